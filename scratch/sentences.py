from training.english.examples import Sentence, bare
