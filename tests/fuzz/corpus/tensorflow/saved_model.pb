‹
"serveK
7
xPlaceholder*
dtype0*
shape:ÿÿÿÿÿÿÿÿÿ

yNegx"è*3
serving_default 

x
x:0

y
y:0