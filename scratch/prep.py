import pickle,sys,random,time
from pathlib import Path
import spacy
from training.english import ud, corpora, silver
from training.english.sentences import aligned, bare
from beholder.language import normalise
D=Path("/work/shared/data"); nlp=spacy.blank("en")
out={}
for split in("train","dev","test"):
    for tb in corpora.TREEBANKS:
        docs=list(ud.documents(nlp.vocab, D/"ud_english"/f"{tb}-ud-{split}.conllu.xz"))
        out[tb,split]=list(aligned(nlp,docs))
rng=random.Random(0)
sents=[s for tb in corpora.TREEBANKS for _,s in ud.read(D/"ud_english"/f"{tb}-ud-train.conllu.xz")]
cop=[ud.make_doc(nlp.vocab,[s]) for s in ud.caption_copies(sents,rng) if s]
out["captions"]=list(aligned(nlp,cop))
texts=list(silver.descriptions(D/"descriptions"/"iiw_descriptions.jsonl.xz"))
out["iiw"]=[[t.text for t in nlp.make_doc(p.text)] for t in texts for p in normalise.paragraphs(t)]
for k,v in out.items(): print(k,len(v), sum(len(s.words) for d in v for s in d) if k!="iiw" else sum(map(len,v)), sum(len(d) for d in v))
import collections
d=out["en_ewt","train"]; print(sum(h<0 for x in d for s in x for h in s.heads))
print(collections.Counter(r for x in d for s in x for r in s.relations).most_common(60))
pickle.dump(out,open("/tmp/parse/w/data.pkl","wb"))
