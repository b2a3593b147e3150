import torch,time
torch.set_num_threads(1)
for dt in (torch.float32, torch.bfloat16):
    a=torch.randn(4096,384,dtype=dt); b=torch.randn(384,1536,dtype=dt)
    for _ in range(3): a@b
    t=time.process_time()
    for _ in range(30): a@b
    t=time.process_time()-t
    print(dt, 30*2*4096*384*1536/t/1e9,"GFLOP/s")
