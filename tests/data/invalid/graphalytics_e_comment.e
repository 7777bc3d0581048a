# no
1 2
