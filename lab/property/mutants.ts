import type { StoredDocument, Write } from '#shared/ports/ports.ts';
import type { Rewrite } from './world-store.ts';

/** A way to write that looks right and is not. The programs have to find what it breaks. */
export interface Mutant {
  name: string;
  /** The invariant that the first failing program breaks. */
  breaks: RegExp;
  /** Whose programs find it within a hundred; those of most seeds take some hundreds. */
  seed: number;
  rewrite: Rewrite;
}

type Update = Extract<Write, { op: 'update' }>;

const isConversation = ({ path }: Write) => path.split('/').length === 2;
const isHistory = ({ path }: Write) => path.includes('/histories/');

const unguarded = (write: Write): Write =>
  write.op === 'update' ? { ...write, guard: { exists: true } } : write;

/** An update of the conversation document that leaves a field as it is. */
function without(write: Write, field: string): Write {
  if (write.op !== 'update' || !isConversation(write)) return write;
  const { [field]: _, ...fields } = write.fields;
  return { ...write, fields };
}
const withoutRequest = (write: Write): Write => without(write, 'compactionRequests.auto');

/** A generation that a worker makes; the others come with a change by the owner. */
const isSwap = (write: Write): boolean =>
  write.op === 'create' &&
  isHistory(write) &&
  (write.fields['state'] === 'COMPACTED' || write.fields['state'] === 'CONTENT_TRUNCATED');

/** Finish publishes only: the need does not stand in its batch. */
const noOutbox: Mutant = {
  name: 'a finish that publishes its need and does not write it',
  breaks: /^I6/,
  seed: 1,
  rewrite: ({ writes }) => Promise.resolve([writes.map(withoutRequest)]),
};

/** The swap looks whether the history is there, and then writes it whoever has come in between. */
const noFence: Mutant = {
  name: 'a swap that overwrites the next history and guards by existence',
  breaks: /^I[234]/,
  seed: 11,
  rewrite: async ({ writes, peek }) => {
    const created = writes.find(isHistory);
    if (created?.op !== 'create') return [writes];
    if (!(await peek(created.path))) return [writes.map(unguarded)];
    const overwrite: Write = { ...created, op: 'update', guard: { exists: true } };
    return [writes.map((write) => (write === created ? overwrite : unguarded(write)))];
  },
};

/** The conversation document as it was read, with the change in it, over whatever stands there now. */
function whole(write: Update, read: StoredDocument): Update {
  const fields: Record<string, Update['fields'][string]> = { ...read.fields };
  for (const [path, value] of Object.entries(write.fields)) {
    const [name = '', part] = path.split('.');
    const before = fields[name];
    fields[name] =
      part === undefined
        ? value
        : Object.fromEntries([...Object.entries(before ?? {}), [part, value]]);
  }
  const gone = (write.remove ?? []).filter((path) => !path.includes('.'));
  for (const name of gone) delete fields[name];
  for (const path of write.remove ?? []) {
    const [name = '', part] = path.split('.');
    const before = fields[name];
    if (part === undefined || typeof before !== 'object' || before === null) continue;
    fields[name] = Object.fromEntries(Object.entries(before).filter(([key]) => key !== part));
  }
  return { ...write, fields, remove: gone, guard: { exists: true } };
}

/** Read, change, write back: the shape of every naive repository. */
const wholeDocument: Mutant = {
  name: 'a head that is written whole as it was read, without a guard',
  breaks: /^I1 /,
  seed: 1,
  rewrite: ({ writes, lastRead }) =>
    Promise.resolve([
      writes.map((write) => {
        const read = lastRead.get(write.path);
        return write.op === 'update' && isConversation(write) && read ? whole(write, read) : write;
      }),
    ]),
};

/** `lastSeq` goes up by one in a write that only asks whether the conversation document exists. */
const bareCounter: Mutant = {
  name: 'a counter of turns that rises beside the batch of its turn, without a guard',
  breaks: /^I1 /,
  seed: 1,
  rewrite: async ({ writes, peek }) => {
    const conversation = writes.find(
      (write): write is Update => write.op === 'update' && 'lastSeq' in write.fields,
    );
    if (!conversation) return [writes];
    const { lastSeq: _, ...fields } = conversation.fields;
    const before = (await peek(conversation.path))?.fields['lastSeq'];
    const counter: Write = {
      op: 'update',
      path: conversation.path,
      fields: { lastSeq: Number(before ?? 0) + 1 },
      guard: { exists: true },
    };
    const rest = writes.map((write) =>
      write === conversation
        ? { ...conversation, fields, guard: { exists: true } as const }
        : write,
    );
    return [[counter], rest];
  },
};

/** A need that a worker sets where it settles another goes unsaid. */
const settlesBlindly: Mutant = {
  name: 'a worker that settles a swap and does not look at the context again',
  breaks: /^I6 a crossing/,
  seed: 6,
  rewrite: ({ writes }) => {
    const [write] = writes;
    const isRenewal =
      writes.length === 1 && write?.op === 'update' && 'compactionRequests.auto' in write.fields;
    if (!isRenewal) return Promise.resolve([writes]);
    const { 'compactionRequests.auto': _, ...fields } = write.fields;
    const remove = [...new Set([...(write.remove ?? []), 'compactionRequests.auto'])];
    return Promise.resolve([[{ ...write, fields, remove }]]);
  },
};

/** Back out of the bin as it went in: what was asked for then was dropped. */
const silentUndelete: Mutant = {
  name: 'an undelete that does not ask again for what was dropped',
  breaks: /^I6 a crossing/,
  seed: 3,
  rewrite: ({ writes }) =>
    Promise.resolve([
      writes.map((write) =>
        write.op === 'update' &&
        isConversation(write) &&
        write.fields['compactionRequests'] !== undefined
          ? { ...write, fields: { ...write.fields, compactionRequests: {} } }
          : write,
      ),
    ]),
};

const closesTurn = (write: Write) =>
  write.op === 'update' && write.fields['producer'] === '' && write.fields['inContext'] === true;

/** What a turn had said and done comes into the context where another than its producer ends it. */
const closesBlindly: Mutant = {
  name: 'a turn that waits or is abandoned and is closed without a look at the context',
  breaks: /^I6 a crossing/,
  seed: 2,
  rewrite: ({ writes }) =>
    Promise.resolve([writes.some(closesTurn) ? writes.map(withoutRequest) : writes]),
};

/** A worker that has read the turn before it was edited swaps in what it said. */
const editTakesNoGeneration: Mutant = {
  name: 'a change of finished turns that takes no generation',
  breaks: /^I[279]/,
  seed: 4,
  rewrite: ({ writes }) => {
    const isChange = writes.some(
      (write) => write.op === 'update' && isConversation(write) && 'generation' in write.fields,
    );
    if (!isChange || writes.some(isSwap)) return Promise.resolve([writes]);
    const rest = writes.filter((write) => !isHistory(write));
    return Promise.resolve([rest.map((write) => without(write, 'generation'))]);
  },
};

/** A swap serves one request, and forgets what was asked for meanwhile. */
const swapClearsRequests: Mutant = {
  name: 'a swap that clears the requests it did not serve',
  breaks: /^I6/,
  seed: 2,
  rewrite: ({ writes }) =>
    Promise.resolve([
      writes.map((write) =>
        write.op === 'update' && isConversation(write) && writes.some(isSwap)
          ? { ...write, fields: { ...write.fields, compactionRequests: {} } }
          : write,
      ),
    ]),
};

export const mutants = {
  noOutbox,
  noFence,
  wholeDocument,
  bareCounter,
  settlesBlindly,
  silentUndelete,
  closesBlindly,
  editTakesNoGeneration,
  swapClearsRequests,
} satisfies Record<string, Mutant>;
