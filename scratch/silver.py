import sys; sys.path.insert(0,"/tmp/parse")
from common import *
from beholder.language.trees import best_tree
from training.english import ud, templates
net=Teacher(LAB); net.load_state_dict(torch.load("/tmp/parse/w/teacher.pt")); net.eval()
def cut(words,limit=200):
    out=[];cur=[];n=0
    for i,w in enumerate(words):
        cur.append(w);n+=len(P(w))
        if (w in(".","!","?") and n>limit*.7) or n>limit+40: out.append(cur);cur=[];n=0
    if cur: out.append(cur)
    return out
def parse(docs):
    """docs: lists of words -> lists of Sentences, in order"""
    order=sorted(range(len(docs)),key=lambda i:len(docs[i])); res=[None]*len(docs)
    cur=[];L=0;todo=[]
    for i in order:
        if cur and len(docs[i])*(len(cur)+1)>3500: todo.append(cur);cur=[]
        cur.append(i)
    todo.append(cur)
    t0=time.process_time()
    for k,ids in enumerate(todo):
        bt=[[bare(docs[i])] for i in ids]
        with torch.inference_mode(), torch.autocast("cpu",dtype=torch.bfloat16):
            b=P.batch([docs[i] for i in ids]); s=run_teacher(net,bt)
            st=(s.starts>0).numpy(); arcs=s.arcs.numpy(); H=torch.zeros(b.shapes.shape,dtype=torch.long)
            bounds=[]
            for r,i in enumerate(ids):
                n=len(docs[i]); bd=[0]+[x for x in range(1,n) if st[r,x]]+[n]; bounds.append(bd)
                for lo,hi in zip(bd,bd[1:]): H[r,lo:hi]=torch.tensor(best_tree(arcs[r,lo:hi,lo:hi])+lo)
            rel=net.heads.relation_scores(s,H); rel[...,IR["root"]]=-1e4; rel=rel.argmax(-1).numpy()
            tg=s.tags.argmax(-1).numpy();po=s.parts.argmax(-1).numpy();H=H.numpy()
        for r,i in enumerate(ids):
            w=docs[i];res[i]=[]
            for lo,hi in zip(bounds[r],bounds[r][1:]):
                res[i].append(Sentence(w[lo:hi],[TAGS[x] for x in tg[r,lo:hi]],[PARTS[x] for x in po[r,lo:hi]],[int(h)-lo for h in H[r,lo:hi]],["root" if H[r,x]==x else RELS[rel[r,x]] for x in range(lo,hi)]))
        if k%20==0: print(k,len(todo),"cpu %.0f"%(time.process_time()-t0),flush=True)
    return res
if __name__=="__main__":
    docs=[c for p in DATA["iiw"] for c in cut(p)]
    out=parse(docs); pickle.dump(out,open("/tmp/parse/w/silver.pkl","wb"))
    print(len(out),sum(len(d) for d in out),sum(len(s.words) for d in out for s in d))
    for d in out[:3]:
        for s in d[:3]: print(" ".join(f"{w}/{t}/{r}/{s.words[h]}" for w,t,r,h in zip(s.words,s.tags,s.relations,s.heads)))
