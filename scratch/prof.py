from common import *
import torch.profiler as tp
torch.manual_seed(0); rng=random.Random(0)
net=Student(len(TAGS),len(PARTS),len(RELS),0.1); train=list(chunks(DATA["en_ewt","train"][:300]))
print(sum(p.numel() for p in net.parameters() if p.requires_grad))
opt=torch.optim.AdamW([p for p in net.parameters() if p.requires_grad],lr=1e-4)
bs=batches(train,2500,rng)[:6]
def step(bt):
    t=time.process_time()
    with torch.autocast("cpu",dtype=torch.bfloat16):
        b=P.batch([[w for s in d for w in s.words] for d in bt]);t1=time.process_time();s=net(b);t2=time.process_time()
        loss=losses(net.heads,s,gold(bt),b.present)
    t3=time.process_time();opt.zero_grad();loss.backward();t4=time.process_time();opt.step();t5=time.process_time()
    print(len(bt),b.present.shape,"batch %.2f fwd %.2f loss %.2f bwd %.2f opt %.2f"%(t1-t,t2-t1,t3-t2,t4-t3,t5-t4),flush=True)
for bt in bs[:4]: step(bt)
with tp.profile() as p: step(bs[4])
print(p.key_averages().table(sort_by="self_cpu_time_total",row_limit=16,max_name_column_width=40))
