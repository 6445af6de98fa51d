import type { Write } from '#shared/ports/ports.ts';
import type { StoreOperation } from '#infra/local/embedded/memory-document-store.ts';

/*
 * The rule of every commit below a conversation: it updates, under the update time that was read, the
 * open turn, `jobs/compaction` or the conversation document, or it creates the conversation document. So a commit that was prepared before
 * a conversation is erased, or that is sent twice, changes nothing.
 *
 * A `merge`, which has no guard of its own, stands only in a batch that fails as a whole when what it says is no longer true.
 */

interface Place {
  conversation: string;
  /** Path below the conversation document; '' is the conversation document itself. */
  below: string;
}

/** Fields that count: to be changed only by who read them and still finds them so. */
const COUNTERS = new Set(['lastSeq', 'attempt', 'attempts', 'fence', 'brake', 'records', 'chunks']);

function placeOf(path: string): Place | undefined {
  const [collection, id, ...rest] = path.split('/');
  if (collection !== 'conversations' || id === undefined) return undefined;
  return { conversation: id, below: rest.join('/') };
}

const isUpdatedAsRead = (write: Write) =>
  (write.op === 'update' || write.op === 'delete') &&
  write.guard !== undefined &&
  'updateTime' in write.guard;

/** Whether the write fails once the conversation is erased, or once somebody else has come first. */
function isAnchor(write: Write): boolean {
  const below = placeOf(write.path)?.below;
  if (below === '') return write.op === 'create' || isUpdatedAsRead(write);
  if (below === undefined || !isUpdatedAsRead(write)) return false;
  return below === 'jobs/compaction' || /^turns\/\d+$/.test(below);
}

/** Merges in a batch that nothing holds back: neither a state that was read nor a conversation that begins with it. */
export function unguardedMerges(writes: readonly Write[]): string[] {
  const isBegun = (write: Write) => write.op === 'create' && placeOf(write.path)?.below === '';
  if (writes.some((write) => isUpdatedAsRead(write) || isBegun(write))) return [];
  return writes
    .filter(({ op }) => op === 'merge')
    .map(({ path }) => `nothing that was read guards the merge of ${path}`);
}

/** Frames of a stream are appended alone, under the lease of their producer. */
const isChunk = ({ write, place }: { write: Write; place: Place }): boolean =>
  write.op === 'create' && /^streams\/[^/]+\/chunks\//.test(place.below);

/** A counter that is written over whatever stands there. */
function blindCounters(write: Write, writes: readonly Write[]): string[] {
  if (write.op !== 'update' || !('exists' in write.guard)) return [];
  // What the owner's devices are told is replaced as a whole, and nobody counts on it.
  if (placeOf(write.path)?.below === 'public/status') return [];
  return Object.keys(write.fields).filter((field) => {
    const name = field.split('.')[0] ?? '';
    // A generation is as good as read where the same batch creates its history.
    if (name === 'generation' || name === 'changedIn')
      return !writes.some(({ op, path }) => op === 'create' && path.includes('/histories/'));
    return COUNTERS.has(name);
  });
}

/** What users and the deployment have taken. */
export const isCount = (path: string): boolean =>
  /^quotas\/[^/]+\/usage\/[^/]+$/.test(path) || /^budget\/[^/]+\/shards\/[^/]+$/.test(path);

/** What others write, too, is added up, so every write relies on what was read; an instance tells its own sum. */
const isOfOneInstance = (path: string): boolean => path.startsWith('budget/');

const blindCounts = (writes: readonly Write[]): string[] =>
  writes
    .filter(({ path }) => isCount(path) && !isOfOneInstance(path))
    .filter((write) => write.op !== 'create' && !isUpdatedAsRead(write))
    .map(({ path }) => `${path} is written over whatever stands there`);

/**
 * What a commit does that the documents do not allow, in words; empty when it keeps to the rules. Commits
 * outside of conversations are looked at only where they count what was taken, or merge.
 */
export function brokenRules(writes: readonly Write[]): string[] {
  const places = writes.flatMap((write) => {
    const place = placeOf(write.path);
    return place ? [{ write, place }] : [];
  });
  const conversations = new Set(
    places.filter((each) => !isChunk(each)).map(({ place }) => place.conversation),
  );
  const unanchored = [...conversations].filter(
    (id) => !places.some(({ write, place }) => place.conversation === id && isAnchor(write)),
  );
  return [
    ...blindCounts(writes),
    ...unguardedMerges(writes),
    ...unanchored.map(
      (id) =>
        `nothing that was read guards ${places
          .filter(({ place }) => place.conversation === id)
          .map(({ write, place }) => `${write.op} ${place.below || 'head'}`)
          .join(', ')}`,
    ),
    ...places.flatMap(({ write, place }) =>
      blindCounters(write, writes).map((field) => `${field} of ${place.below || 'head'} is unread`),
    ),
  ];
}

/** Remembers every commit that is asked of a memory store: `beforeOperation` goes into its hooks. */
export function recordCommits() {
  const commits: (readonly Write[])[] = [];
  return {
    commits,
    brokenRules: () => commits.flatMap(brokenRules),
    beforeOperation: (operation: StoreOperation) => {
      if (operation.name === 'commit') commits.push(operation.writes);
      return Promise.resolve();
    },
  };
}
