import numpy as np, itertools, time
from beholder.language.trees import best_tree
rng=np.random.default_rng(0)
def brute(s):
    n=len(s);best=-1e9;b=None
    for h in itertools.product(range(n),repeat=n):
        if sum(h[i]==i for i in range(n))!=1: continue
        ok=True
        for i in range(n):
            j=i
            for _ in range(n): j=h[j]
            ok&=h[j]==j
        if ok:
            v=sum(s[i,h[i]] for i in range(n))
            if v>best: best=v;b=h
    return best,b
for t in range(300):
    n=rng.integers(1,6);s=rng.normal(size=(n,n))
    h=best_tree(s);v=sum(s[i,h[i]] for i in range(n));assert abs(v-brute(s)[0])<1e-9,(s,h,brute(s))
print("ok"); s=rng.normal(size=(200,200)).astype("f4");t=time.process_time();best_tree(s);print(time.process_time()-t)
