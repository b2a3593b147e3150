from common import *
from training.english.nets import *
from training.english.examples import *
torch.manual_seed(0); rng=random.Random(0)
train=list(chunks(DATA["en_ewt","train"][:300],90))
for W in (800,):
  for bf in (True,False):
    net=Student(LAB,0.1)
    opt=torch.optim.AdamW([p for p in net.parameters() if p.requires_grad],lr=1e-3)
    bs=batches(train,W,rng)[:13]
    for k,bt in enumerate(bs):
        n=0 if k<4 else n
        if k==3: t=time.process_time()
        with torch.autocast("cpu",dtype=torch.bfloat16,enabled=bf):
            b=P.batch(words_of(bt));s=net(b);loss=losses(net.heads,s,targets(bt,LAB))
        opt.zero_grad();loss.backward();opt.step();n+=int(b.present.sum()) if k>=3 else 0
    t=time.process_time()-t
    print(W,"bf16" if bf else "fp32","s/step %.3f words/s %.0f"%(t/10,n/t),flush=True)
