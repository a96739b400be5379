result: str = "hi " + who
who: str
