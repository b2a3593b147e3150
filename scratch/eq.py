from common import *
from training.english.export import export
from beholder.language import network, model
from pathlib import Path
torch.manual_seed(1)
net=Student(len(TAGS),len(PARTS),len(RELS),0.1).eval()
for b in net.blocks: b.distances.data.normal_(std=.3)
export(net,{"tags":TAGS,"parts":PARTS,"relations":RELS},Path("/tmp/parse/w/rand.safetensors"))
N=network.Network(Path("/tmp/parse/w/rand.safetensors"))
words=[w for s in DATA["en_ewt","dev"][3] for w in s.words][:100]
x=np.stack([N._vector(w) for w in words])
for b in N._blocks: x=b(x)
x=N._last(x)
cap={}
net.heads.register_forward_pre_hook(lambda m,a: cap.update(x=a[0]))
with torch.no_grad(): s=net(P.batch([words]))
print(np.abs(cap["x"][0].numpy()-x).max(), np.abs(x).max())
told=N._tag(x); print(np.abs(told[:,:len(TAGS)]-s.tags[0].numpy()).max())
r=N.read(words); print(list(zip(words,r.tags,r.heads.tolist(),r.relations))[:6])
import os
texts=DATA["iiw"][:60]; [N.read(t) for t in texts]
t=time.process_time();[N.read(t) for t in texts];t=time.process_time()-t
n=sum(map(len,texts));print("words/s",n/t, n)
