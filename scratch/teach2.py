import sys; sys.path.insert(0,"/tmp/parse")
from common import *
torch.manual_seed(1); rng=random.Random(1)
net=Teacher(LAB); net.load_state_dict(torch.load("/tmp/parse/w/teacher.pt"))
train=list(chunks(DATA["en_ewt","train"]+DATA["en_gum_open","train"],90));cap=list(chunks(DATA["captions"],90))[::3]
enc=[p for n,p in net.named_parameters() if n.startswith("layers")]
hd=[p for n,p in net.named_parameters() if not n.startswith("layers")]
LR=(2.5e-4,1.0e-3)
opt=torch.optim.AdamW([{"params":enc,"lr":LR[0]},{"params":hd,"lr":LR[1]}],weight_decay=0.01)
plan=batches(train+cap,1300,rng); total=len(plan); t0=time.process_time();tot=0
bl=Below()
for step,bt in enumerate(plan):
    f=min(1,(step+1)/25)*max(0.01,1-step/total)
    for gr,base in zip(opt.param_groups,LR): gr["lr"]=base*f
    with torch.autocast("cpu",dtype=torch.bfloat16):
        w=words_of(bt); s=net(P.batch(w),bl([P.flat(d) for d in w]))
    loss=losses(net.heads,s,targets(bt,LAB))
    opt.zero_grad();loss.backward();torch.nn.utils.clip_grad_norm_(net.parameters(),1.0);opt.step()
    tot+=loss.item()
    if step%25==24: print(step+1,total,"loss %.3f"%(tot/25),"cpu %.0f"%(time.process_time()-t0),flush=True);tot=0
    if step%100==99: torch.save(net.state_dict(),"/tmp/parse/w/teacher2.pt")
torch.save(net.state_dict(),"/tmp/parse/w/teacher2.pt")
print(evaluate(net,DATA["en_ewt","dev"][::2]),flush=True)
print(evaluate(net,DATA["en_gum_open","dev"][::2]),flush=True)
