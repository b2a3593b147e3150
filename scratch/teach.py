import sys; sys.path.insert(0,"/tmp/parse")
from common import *
EPOCHS=int(sys.argv[1]); torch.manual_seed(0); rng=random.Random(0)
net=Teacher(len(TAGS),len(PARTS),len(RELS))
train=list(chunks(DATA["en_ewt","train"]+DATA["en_gum_open","train"],110));cap=[[s] for d in DATA["captions"] for s in d if npieces(s)<250][::3]
enc=[p for n,p in net.named_parameters() if n.startswith("layers")]
hd=[p for n,p in net.named_parameters() if not n.startswith("layers")]
LR=(3e-4,1.5e-3)
opt=torch.optim.AdamW([{"params":enc,"lr":LR[0]},{"params":hd,"lr":LR[1]}],weight_decay=0.01)
W=2400
total=EPOCHS*len(batches(train+cap,W,rng));step=0;t0=time.process_time()
for ep in range(EPOCHS):
    tot=0;k=0
    for bt in batches(train+cap,W,rng):
        f=min(1,step/100)*max(0.02,1-step/(total*1.03)) ; step+=1
        for gr,base in zip(opt.param_groups,LR): gr["lr"]=base*f
        with torch.autocast("cpu",dtype=torch.bfloat16):
            s=run_teacher(net,bt,keep=True)
            loss=losses(net.heads,s,gold(bt),P.batch([[w for s in d for w in s.words] for d in bt]).present)
        opt.zero_grad();loss.backward();torch.nn.utils.clip_grad_norm_(net.parameters(),1.0);opt.step()
        tot+=loss.item();k+=1
        if k%20==0: print(ep,k,"loss %.3f"%(tot/k),"cpu %.0f"%(time.process_time()-t0),"step",step,"of",total,flush=True)
    torch.save(net.state_dict(),"/tmp/parse/w/teacher.pt")
    print("EPOCH",ep,evaluate(net,DATA["en_ewt","dev"]),"cpu %.0f"%(time.process_time()-t0),flush=True)
print(evaluate(net,DATA["en_gum_open","dev"]))
