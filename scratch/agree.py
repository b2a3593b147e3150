import sys
from common import *
from beholder.language.network import Network
from pathlib import Path
N=Network(Path(sys.argv[1])); old=pickle.load(open("/tmp/parse/w/old_iiw.pkl","rb")); iiw=DATA["iiw"]
out=[];kept=tot=words=agreed=0
for w,o in zip(iiw,old):
    r=N.read(w); n=len(w); h=r.heads.tolist()
    # sentence ends: by roots' spans
    root=[0]*n
    for i in range(n):
        j=i
        while h[j]!=j: j=h[j]
        root[i]=j
    ns=[0]+[i for i in range(1,n) if root[i]!=root[i-1]]+[n]
    os_=[0]+[i for i in range(1,n) if o[i][4]]+[n]
    both=set(zip(ns,ns[1:]))&set(zip(os_,os_[1:])); doc=[]
    tot+=len(os_)-1
    for lo,hi in sorted(both):
        if hi-lo<3 or hi-lo>80: continue
        tags=[];parts=[];heads=[];rels=[]
        for i in range(lo,hi):
            a=o[i]; tags.append(a[0] if a[0]==r.tags[i] else ""); parts.append(a[1] if a[1]==r.parts[i] else "")
            dep="root" if a[3]=="ROOT" else a[3]
            ok=a[2]==h[i] and dep==r.relations[i]
            heads.append(h[i]-lo if ok else -1); rels.append(dep if ok else "")
            agreed+=ok
        doc.append(Sentence(w[lo:hi],tags,parts,heads,rels)); kept+=1; words+=hi-lo
    if doc: out.append(doc)
print("sentences",kept,"of",tot,"words",words,"agreed arcs %.3f"%(agreed/words))
pickle.dump(out,open(sys.argv[2],"wb"))
