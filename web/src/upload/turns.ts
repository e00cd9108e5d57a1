// Lets a limited number run at a time; the others wait, first come, first served.
export function makeTurns(most: number): (work: () => Promise<void>) => Promise<void> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= most) await new Promise<void>((resolve) => waiting.push(resolve));
    else ++running;
    try {
      await work();
    } finally {
      // The next one in the queue takes over the turn, so that no other comes between.
      const next = waiting.shift();
      if (next === undefined) --running;
      else next();
    }
  };
}
