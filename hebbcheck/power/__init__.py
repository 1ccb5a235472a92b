"""The power of the referee: wrong variants of claims, made by machine, and how many of them are caught.

`mutations` makes the variants, `arguments` finds those that are true by an argument on the expressions, the judges are
run on the others, and `witness` looks, without the judges, for what shows that a survivor is false.
"""
