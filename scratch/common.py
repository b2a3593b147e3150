import pickle,random,time,numpy as np,torch
from training.english.nets import *
NO=-100
torch.set_num_threads(1)
import sys,training.english.examples as _e
sys.modules['training.english.sentences']=_e
DATA=pickle.load(open("/tmp/parse/w/data.pkl","rb"))
def labels():
    import collections
    c=[collections.Counter(),collections.Counter(),collections.Counter()]
    for tb in("en_ewt","en_gum_open"):
        for d in DATA[tb,"train"]:
            for s in d:
                c[0].update(s.tags);c[1].update(s.parts);c[2].update(s.relations)
    return [sorted(k for k,v in x.items() if k and v>=5) for x in c]
TAGS,PARTS,RELS=labels()
from training.english.examples import Labels,Sentence,bare,chunks,batches,words_of
LAB=Labels(TAGS,PARTS,RELS)
IT,IP,IR=({k:i for i,k in enumerate(x)} for x in(TAGS,PARTS,RELS))
P=Pieces()
def npieces(s): return sum(len(P(w)) for w in s.words)
def chunks_old(docs,limit=220):
    for d in docs:
        cur=[];n=0
        for s in d:
            k=npieces(s)
            if cur and n+k>limit: yield cur; cur=[];n=0
            if k>250:
                w=s.words; m=len(w)
                while sum(len(P(x)) for x in w[:m])>250: m-=1
                s=Sentence(s.words[:m],s.tags[:m],s.parts[:m],[h if h<m else -1 for h in s.heads[:m]],[r if h<m else "" for r,h in zip(s.relations[:m],s.heads)])
                k=250
            cur.append(s);n+=k
        if cur: yield cur
def batches_old(docs,words,rng):
    docs=sorted(docs,key=lambda d:sum(len(s.words) for s in d)+rng.random()*3)
    out=[];cur=[];longest=0
    for d in docs:
        k=sum(len(s.words) for s in d)
        if cur and max(longest,k)*(len(cur)+1)>words: out.append(cur);cur=[];longest=0
        cur.append(d);longest=max(longest,k)
    if cur: out.append(cur)
    rng.shuffle(out); return out
def gold(docs):
    n=len(docs);L=max(sum(len(s.words) for s in d) for d in docs)
    g={k:np.full((n,L),NO,dtype=np.int64) for k in("tags","parts","heads","relations")}
    g["starts"]=np.zeros((n,L),np.int64);g["sentence"]=np.full((n,L),-1,np.int64)
    for b,d in enumerate(docs):
        o=0
        for k,s in enumerate(d):
            m=len(s.words);g["starts"][b,o]=1;g["sentence"][b,o:o+m]=k
            g["tags"][b,o:o+m]=[IT.get(t,NO) for t in s.tags]
            g["parts"][b,o:o+m]=[IP.get(t,NO) for t in s.parts]
            g["heads"][b,o:o+m]=[h+o if h>=0 else NO for h in s.heads]
            g["relations"][b,o:o+m]=[IR.get(t,NO) if h>=0 else NO for t,h in zip(s.relations,s.heads)]
            o+=m
    return {k:torch.tensor(v) for k,v in g.items()}
BELOW=None
STATES={}
def key(d): return id(d[0]),id(d[-1])
def below(bt,keep=False):
    """states of frozen layers of docs (lists of sentences)"""
    global BELOW
    if BELOW is None: BELOW=Below()
    miss=[d for d in bt if key(d) not in STATES]
    found={}
    if miss:
        for d,s in zip(miss,BELOW([[p for s in d for w in s.words for p in P(w)] for d in miss])): found[key(d)]=s
        if keep: STATES.update(found)
    return [found[key(d)] if key(d) in found else STATES[key(d)] for d in bt]
def run_teacher(net,bt,keep=False):
    return net(P.batch([[w for s in d for w in s.words] for d in bt]),below(bt,keep))
def run_student(net,bt): return net(P.batch([[w for s in d for w in s.words] for d in bt]))
def evaluate(net,docs,gold_sents=False,bf16=True,run=run_teacher,limit=200):
    """quick: sentence starts predicted at .5; argmax heads; returns scores w/o punct"""
    net.eval(); c=dict(n=0,uas=0,las=0,tag=0,pos=0,tp=0,p=0,g=0)
    with torch.inference_mode(), torch.autocast("cpu",dtype=torch.bfloat16,enabled=bf16):
        for bt in batches(list(chunks(docs,200)),4000,random.Random(0)):
            b=P.batch([[w for s in d for w in s.words] for d in bt]);s=run(net,bt);g=targets(bt,LAB)
            st=s.starts>0; st[:,0]=True
            sent=g["sentence"] if gold_sents else st.cumsum(1)
            same=(sent[:,:,None]==sent[:,None,:])&b.present[:,None,:]
            h=s.arcs.masked_fill(~same,-1e4).argmax(-1)
            r=net.heads.relation_scores(s,h).argmax(-1)
            ok=(g["heads"]>=0)&b.present&(g["parts"]!=IP["PUNCT"])
            u=(h==g["heads"])&ok;l=u&(r==g["relations"])
            c["n"]+=int(ok.sum());c["uas"]+=int(u.sum());c["las"]+=int(l.sum())
            okp=(g["parts"]>=0)
            c["tag"]+=int(((s.tags.argmax(-1)==g["tags"])&okp).sum());c["pos"]+=int(((s.parts.argmax(-1)==g["parts"])&okp).sum());c["np"]=c.get("np",0)+int(okp.sum())
            gs=g["starts"].bool();st=st&b.present
            # sentence f1: both start and next start equal
            for x in range(len(bt)):
                n=int(b.present[x].sum());A=[i for i in range(n) if st[x,i]]+[n];B=[i for i in range(n) if gs[x,i]]+[n]
                sa=set(zip(A,A[1:]));sb=set(zip(B,B[1:]))
                c["tp"]+=len(sa&sb);c["p"]+=len(sa);c["g"]+=len(sb)
    net.train()
    return "UAS %.2f LAS %.2f tag %.2f pos %.2f sentF %.2f"%(100*c["uas"]/c["n"],100*c["las"]/c["n"],100*c["tag"]/c["np"],100*c["pos"]/c["np"],200*c["tp"]/(c["p"]+c["g"]))
