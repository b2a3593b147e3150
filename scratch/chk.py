from common import *
net=Student(LAB,0.1)
print(evaluate(net,DATA["en_ewt","dev"][:20],run=run_student,bf16=False))
