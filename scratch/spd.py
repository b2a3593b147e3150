import time,pickle,sys
sys.path.insert(0,"/work/main/src")
from beholder.language import model
nlp=model.load()
import lzma,json
texts=[json.loads(l)["text"] for l in lzma.open("/work/shared/data/descriptions/iiw_descriptions.jsonl.xz","rt")][:60]
from beholder.language import normalise
ps=[p.text for t in texts for p in normalise.paragraphs(t)]
list(nlp.pipe(ps[:5]))
for _ in range(2):
    t=time.process_time();docs=list(nlp.pipe(ps,batch_size=32));t=time.process_time()-t
    t1=time.process_time();[nlp.make_doc(p) for p in ps];t1=time.process_time()-t1
    n=sum(map(len,docs));print("old words/s",n/t,"tokenizer only",n/t1,n)
