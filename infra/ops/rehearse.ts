import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import type { Value, Write } from '#shared/ports/ports.ts';

/** Stops a use case at the first thing that it would write. */
class RehearsedError extends Error {
  readonly writes: readonly Write[];
  constructor(writes: readonly Write[]) {
    super('nothing was written');
    this.name = 'RehearsedError';
    this.writes = writes;
  }
}

/**
 * Runs a use case of the chat function with a store that takes no write, up to its first batch. So what is told is what
 * would be done, by the same decisions. Nothing is published. Throws what the use case throws.
 *
 * @returns the writes of that batch, or what the use case resolves to where it writes nothing
 */
export async function rehearse<T>(
  chat: ChatDependencies,
  run: (chat: ChatDependencies) => Promise<T>,
): Promise<{ kind: 'writes'; writes: readonly Write[] } | { kind: 'nothing'; result: T }> {
  const rehearsing: ChatDependencies = {
    ...chat,
    store: { ...chat.store, commit: (writes) => Promise.reject(new RehearsedError(writes)) },
    publisher: { publish: () => Promise.resolve() },
  };
  try {
    return { kind: 'nothing', result: await run(rehearsing) };
  } catch (error) {
    if (error instanceof RehearsedError) return { kind: 'writes', writes: error.writes };
    throw error;
  }
}

/** Fields that say where things stand; all others are told by their names alone. */
const TOLD: ReadonlySet<string> = new Set([
  'generation',
  'coveredThrough',
  'changedIn',
  'fence',
  'parent',
  'restoredFrom',
  'state',
]);

const told = ([name, value]: [string, Value | undefined]): string => {
  if (!TOLD.has(name)) return name;
  return `${name} = ${typeof value === 'string' ? value : JSON.stringify(value)}`;
};

/** A write in words, without what anybody said. */
export function writeText(write: Write): string {
  if (write.op === 'delete') return `delete ${write.path}`;
  const fields = Object.entries(write.fields).filter(([, value]) => value !== undefined);
  if (write.op === 'create') {
    const marks = fields.filter(([name]) => TOLD.has(name)).map(told);
    return `create ${write.path}${marks.length > 0 ? `: ${marks.join(', ')}` : ''}`;
  }
  const removed = (write.remove ?? []).map((name) => `no ${name}`);
  return `update ${write.path}: ${[...fields.map(told), ...removed].join(', ')}`;
}
