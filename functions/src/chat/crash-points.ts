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
  'before-cancel': 'A cancellation has reached this instance; it is not stored.',
  'cancel-stored': 'The turn says that it shall be cancelled; its producer may not know.',
  'before-release': 'A turn is given up because the process ends; its lease still runs.',
  released: 'The lease of a turn that was given up has ended.',
} as const;

export type ChatCrashPoint = keyof typeof chatCrashPoints;

/** Passes a crash point: at once in production. */
export const passCrashPoint = (
  { atCrashPoint }: { atCrashPoint: AtCrashPoint },
  point: ChatCrashPoint,
): Promise<void> => atCrashPoint(point);
