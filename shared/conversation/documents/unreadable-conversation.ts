import { AppError } from '#shared/errors.ts';

/** Without one of these nobody can say whose conversation it is, how far it is, or what of it may be shown. */
const TELLING = [
  'epoch',
  'state',
  'ownerUid',
  'model',
  'generation',
  'coveredThrough',
  'lastSeq',
  'changedIn',
  'pendingErasure',
];

/** What is wrong with a conversation document that cannot be read; undefined: nothing that matters. */
export const unreadableConversationText = (
  problems: ReadonlyMap<string, string> | undefined,
): string | undefined => {
  const telling = TELLING.flatMap((name) => problems?.get(name) ?? []);
  return telling.length === 0 ? undefined : telling.join(', ');
};

/**
 * What is read in the place of a conversation document's fields that cannot be read. The meter is none, so the context
 * is estimated until a model reports; the turns stand as they are.
 */
export const substituteConversation = () => ({
  schemaVersion: 1 as const,
  epoch: '',
  state: 'live' as const,
  ownerUid: '',
  model: '',
  profile: 'assistant' as const,
  settings: {},
  metadata: {},
  createTime: new Date(0),
  updateTime: new Date(0),
  generation: 0,
  coveredThrough: { seq: 0, contentIndex: 0 },
  lastSeq: 0,
  changedIn: 0,
  context: {
    tokens: 0,
    overheadTokens: 0,
    calibration: 1,
    source: 'estimated' as const,
    generation: 0,
    seq: 0,
  },
  pins: [],
  compactionRequests: {},
});

interface UnreadableConversation {
  path: string;
  /** Fields and what is wrong with them. */
  problem: string;
  ownerUid: string | undefined;
}

/**
 * A conversation document that says nothing any more that the service could go on with. Its documents stay as they are;
 * it can be deleted and erased, for which nothing but its id and its owner is needed.
 */
export class UnreadableConversationError extends AppError {
  readonly path: string;
  /** Nobody else may learn that it is there. */
  readonly ownerUid: string | undefined;

  constructor({ path, problem, ownerUid }: UnreadableConversation) {
    super({
      status: 'FAILED_PRECONDITION',
      reason: 'CONVERSATION_UNREADABLE',
      message: `${path} cannot be read: ${problem}`,
      publicMessage:
        'What is stored of this conversation cannot be read any more. Its messages are kept: whoever runs the service can mend it. It can be deleted.',
    });
    this.path = path;
    this.ownerUid = ownerUid;
  }
}
