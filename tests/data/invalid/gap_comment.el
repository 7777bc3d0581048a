# none here
0 1
