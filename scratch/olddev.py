import sys; sys.path.insert(0,"/work/main")
from pathlib import Path
import spacy
from beholder.language import model
from training.english import ud as treebank
from spacy.training import Example
nlp=model.load(); D=Path("/work/shared/data")
for n in("en_ewt","en_gum_open"):
    docs=list(treebank.documents(nlp.vocab,D/"ud_english"/f"{n}-ud-dev.conllu.xz"))
    s=nlp.evaluate([Example(nlp.make_doc(d.text),d) for d in docs]); print(n,{k:round(s[k],4) for k in("pos_acc","tag_acc","dep_uas","dep_las","sents_f")})
