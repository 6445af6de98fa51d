import type { RestartablePart, Stack } from '../stack/stack-children.ts';
import type { PartName } from '../stack/stack-event.ts';

type KillablePart = 'chat' | 'compaction';

type Killed =
  | { kind: 'killed'; processId: number }
  /** Both functions and the store are one process: with it everything would be gone. */
  | { kind: 'holds-store' }
  /** It is being started again. */
  | { kind: 'is-down' };

export interface PartKills {
  /** SIGKILL; the part comes back by itself, on the same port. Resolves before it is back. */
  kill(part: KillablePart): Killed;
  /** Which parts can be killed here. */
  killable(): KillablePart[];
  state(): { part: PartName; processId: number; kills: number; isDown: boolean }[];
  /** Resolves when every part that was killed is back, or has failed to come. */
  settled(): Promise<void>;
}

const wanted: readonly KillablePart[] = ['chat', 'compaction'];

/** A machine that is busy may not have a part ready in its time: it is killed then, and begun anew. */
const MAX_STARTS = 3;

/** Kills parts of the stack and has them started again, one kill of a part at a time. */
export function createPartKills(options: {
  stack: Pick<Stack, 'processIds' | 'restart'>;
  onFailure: (part: RestartablePart, error: unknown) => void;
}): PartKills {
  const { stack, onFailure } = options;
  const down = new Map<PartName, Promise<void>>();
  const kills = new Map<PartName, number>();

  async function restart(part: KillablePart): Promise<void> {
    for (let starts = 1; ; starts += 1) {
      try {
        return await stack.restart(part);
      } catch (error) {
        onFailure(part, error);
        if (starts === MAX_STARTS) return;
      }
    }
  }

  const killable = () =>
    wanted.filter((part) => stack.processIds().some((running) => running.part === part));

  return {
    killable,
    kill(part) {
      if (!killable().includes(part)) return { kind: 'holds-store' };
      if (down.has(part)) return { kind: 'is-down' };
      const { processId = 0 } = stack.processIds().find((running) => running.part === part) ?? {};
      kills.set(part, (kills.get(part) ?? 0) + 1);
      down.set(
        part,
        restart(part).finally(() => down.delete(part)),
      );
      return { kind: 'killed', processId };
    },
    state: () =>
      stack.processIds().map(({ part, processId }) => ({
        part,
        processId,
        kills: kills.get(part) ?? 0,
        isDown: down.has(part),
      })),
    settled: async () => {
      await Promise.all(down.values());
    },
  };
}
