from beholder.language import parse, model
import time,lzma,json
from beholder.language import normalise
nlp=model.load()
for t in ["A man riding a horse waves. The girl walks home while eating an apple.","a cat on a mat"]:
    print([(w.text,w.tag_,w.dep_,w.head.text) for w in nlp(t)])
texts=[json.loads(l)["text"] for l in lzma.open("/work/shared/data/descriptions/iiw_descriptions.jsonl.xz","rt")][:60]
ps=[p.text for t in texts for p in normalise.paragraphs(t)]
list(nlp.pipe(ps[:5],batch_size=1))
for _ in range(2):
    t=time.process_time();docs=list(nlp.pipe(ps,batch_size=32));t=time.process_time()-t
    n=sum(map(len,docs));print("words/s",n/t,n)
import cProfile,pstats
p=cProfile.Profile();p.enable();list(nlp.pipe(ps,batch_size=32));p.disable();pstats.Stats(p).sort_stats("tottime").print_stats(14)
