# parses of the shipped spaCy model, on the same tokens
import pickle,time
from beholder.language import model
from spacy.tokens import Doc
import sys; sys.path.insert(0,"/work/wt/parse")
import types
# data.pkl holds Sentence objects of the worktree: only "iiw" is needed
D=pickle.load(open("/tmp/parse/w/iiw.pkl","rb"))
nlp=model.load(); out=[]
docs=[Doc(nlp.vocab,words=w) for w in D]
t=time.process_time()
for d in nlp.pipe(docs,batch_size=32):
    out.append([(k.tag_,k.pos_,k.head.i,k.dep_,bool(k.is_sent_start)) for k in d])
print(time.process_time()-t)
pickle.dump(out,open("/tmp/parse/w/old_iiw.pkl","wb"))
