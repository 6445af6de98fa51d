import type { AtCrashPoint } from '#shared/ports/ports.ts';

/**
 * Every place between two effects of a turn, and what has happened there. A process that dies at any of
 * them leaves a turn that the next send, or a cancellation, puts right.
 */
export const chatCrashPoints = {
  'turn-queued': 'A message is stored behind others; nobody has looked whose turn it is.',
  'turn-rejoined': 'Somebody new waits with an abandoned message of the queue.',
  'queued-turn-begun': 'The turn of a waiting message has begun; no answer is on its way.',
  'queued-turn-failed': 'The turn of a waiting message came, and it is stored why it cannot begin.',
  'turns-interrupted': 'The turns in a message’s way were asked to stop; nothing of it is stored.',
  'replacement-begun': 'An edit has begun; nobody was told of the compaction that it needs.',
  'turn-reserved': 'What the turn may take is reserved; nothing of it is stored.',
  'turn-started': 'The turn stands in the store; the model has not been asked.',
  'before-flush': 'Frames wait for their chunk; readers of this instance have seen them.',
  flushed: 'A chunk and the lease are stored.',
  'calls-stored': 'The calls of a round are stored; no tool has run.',
  'tools-ran': 'The tools of a round have given what they give; nothing of it is stored.',
  'responses-stored': 'A round is stored whole; the model has not been asked again.',
  'results-stored': 'Some calls of the app are answered; others wait.',
  'turn-resumed':
    'The last call of the app is answered; the turn runs again, and nobody has been asked.',
  'answer-streamed': 'The model has ended; nothing of the end is stored.',
  'before-finish': 'No flush runs any more; the finish is not committed.',
  'turn-finished': 'The finish is committed; readers and workers have not been told.',
  'turn-published': 'The workers have been told; readers wait for the end of their stream.',
  'after-turn-ran': 'The app’s step behind a turn has run; that it is done is not noted.',
  'before-cancel': 'A cancellation has reached this instance; it is not stored.',
  'cancel-stored': 'The turn says that it shall be cancelled; its producer may not know.',
  'before-release': 'A turn is given up because the process ends; its lease still runs.',
  released: 'The lease of a turn that was given up has ended.',
} as const;

export type ChatCrashPoint = keyof typeof chatCrashPoints;

/**
 * Every place between two effects of restoring, deleting, erasing, forking and claiming, and what has happened
 * there. A process that dies at any of them leaves a conversation that the same request again, or the
 * sweep, puts right.
 */
export const lifecycleCrashPoints = {
  'generation-restored': 'The restored generation is in force; the workers have not been told.',
  'message-wiped': 'A turn is emptied; earlier histories and chunks may still tell of it.',
  'erasure-finished': 'Nothing tells of the turn any more; the workers have not been told.',
  'conversation-deleted': 'The conversation is in the bin; the caller does not know.',
  'conversation-undeleted': 'The conversation is live again; the caller does not know.',
  'conversation-marked': 'One conversation is marked as erasing; the workers have not been told.',
  'erase-published': 'The workers have been told to erase one conversation.',
  'user-documents-erased':
    'Nothing stands below the user any more, conversations and bare figures of today apart.',
  'fork-begun': 'The document of the fork is there, or taken from a maker that died.',
  'fork-cleared': 'Nothing of an earlier try stands below the document of the fork.',
  'fork-batch-copied': 'Some documents are copied.',
  'fork-copied': 'All documents are copied; the fork is not live.',
  'fork-live': 'The fork is live; the caller does not know.',
  'claim-begun': 'It is stored that an account takes over what a guest has; nothing has moved.',
  'conversation-claimed': 'One conversation of the guest belongs to the account.',
  'guest-documents-copied':
    'Uploads, names of chats, devices or notes of the guest stand below both users.',
  'guest-copies-cleared': 'Nothing that was copied tells of what was erased meanwhile.',
  'claim-done': 'The guest has nothing any more; the caller does not know.',
} as const;

type LifecycleCrashPoint = keyof typeof lifecycleCrashPoints;

/** The places between two effects of erasing a conversation, and what has happened there. */
const eraseCrashPoints = {
  'erase-begun':
    'The conversation document says that the conversation is being erased; a pass begins.',
  'erase-pass-done': 'One pass over everything below the conversation document has ended.',
  'erase-uploads-released':
    'Nothing stands below the conversation, and files that only it named are deleted.',
  'erase-tombstone-written': 'Only the tombstone is left; nobody has been told.',
} as const;

type EraseCrashPoint = keyof typeof eraseCrashPoints;

/**
 * Every place between two effects of the worker, and what has happened there. A process that dies at any
 * of them leaves a conversation that the next delivery or the next sweep puts right. Nothing reaches a
 * point from outside: what happens at one is decided by the process that builds the dependencies.
 */
export const compactionCrashPoints = {
  received: 'A compaction request is read; no document is.',
  'before-claim': 'Conversation, job and context are read; the lease is not taken.',
  claimed: 'The lease is taken; nobody has been told.',
  planned: 'What to fold is fixed; hooks have run.',
  'call-held': 'What a call of the model may cost is held; it is not made.',
  'call-answered': 'The model has answered; what it took is not settled.',
  'call-settled': 'What a call took is settled; nobody has read its answer.',
  summarised: 'The model has written a summary.',
  'status-written': 'The owner’s devices know that the summary is being verified.',
  verified: 'The candidate is good and counted; nothing is swapped.',
  indexed: 'The turns that are about to be folded can be found by recall; nothing is swapped.',
  'before-swap': 'The renewals of the lease have ended; the swap is not committed.',
  swapped: 'The swap is committed; nobody has been told.',
  'record-written': 'An outcome without a swap is in the job; nobody has been told.',
  'request-renewed': 'The request was served and is renewed; nobody has been told.',
  reported:
    'The outcome is logged and published, and hooks have run; the request still stands in the conversation document.',
  settled:
    'The request is settled, or the next attempt is due later; the event is not acknowledged.',
  acknowledged: 'Pub/Sub has its answer.',
  'sweep-turns-mended': 'The sweep has closed the abandoned turns of one conversation.',
  'sweep-published': 'The sweep has published one request again.',
  'sweep-request-dropped': 'The sweep has settled one request that no worker served.',
  'sweep-marked': 'The sweep has marked one conversation as erasing.',
  'sweep-erased': 'The sweep has erased one conversation.',
  ...eraseCrashPoints,
  'sweep-after-turn-ran':
    'The sweep has run the app’s step behind a turn; that it is done is not noted.',
  'sweep-swept': 'The sweep has done all it could; the event is not acknowledged.',
} as const;

export type CompactionCrashPoint = keyof typeof compactionCrashPoints;

/** What a test lets a crash point throw. Nobody catches it, as nobody outlives a crash. */
export class CrashedError extends Error {
  constructor(point: string, options: { cause: unknown }) {
    super(`died at ${point}`, options);
    this.name = 'CrashedError';
  }
}

/** Passes a crash point of chat, or of an erasure: at once in production. Throws what a test has it throw. */
export const passCrashPoint = (
  { atCrashPoint }: { atCrashPoint: AtCrashPoint },
  point: ChatCrashPoint | LifecycleCrashPoint | EraseCrashPoint,
): Promise<void> => atCrashPoint(point);

/** Passes a crash point of the worker: at once in production. Throws CrashedError where a test has it fail. */
export async function passWorkerCrashPoint(
  { atCrashPoint }: { atCrashPoint: AtCrashPoint },
  point: CompactionCrashPoint,
): Promise<void> {
  try {
    await atCrashPoint(point);
  } catch (error) {
    throw new CrashedError(point, { cause: error });
  }
}
