import { isUnpaid } from '#shared/compaction/outcome.ts';
import { isSwitchedOff, requestsWithoutOutcome } from '#shared/compaction/request-decisions.ts';
import type { Shrinkage } from '#shared/conversation/context/sent-view.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import {
  isHeld,
  type CompactionJob,
  type CompactionRecord,
} from '#shared/conversation/documents/job.ts';
import { time, tokens, wholePromptTokens } from '../fields.ts';
import { recalledResponse } from './turns.ts';
import { z } from 'zod';

const compactionStatusResponse = z.object({
  state: z.string(),
  jobId: z.string().optional(),
  trigger: z.string().optional(),
  beforeTokens: wholePromptTokens.optional(),
  afterTokens: wholePromptTokens.optional(),
  coveredThrough: z.number().int().optional(),
  at: time.optional(),
  reason: z.string().optional(),
  message: z.string().optional(),
});

/** Where a compaction of the conversation stands; `message` is ready to be shown to a person. */
type CompactionStatus = z.infer<typeof compactionStatusResponse>;

const leftOutResponse = z
  .object({
    turns: z.number().int(),
    from: z.number().int().describe('First of them.'),
    upTo: z.number().int().describe('Last of them.'),
    remedy: z
      .enum(['wait', 'compact'])
      .describe(
        'How the model gets what matters in them back: wait, a compaction is on its way; compact, none comes by itself (`settings.compaction` is manual or off, or it pauses): `POST …:compact`.',
      ),
    message: z.string().describe('Ready to be shown to a person.'),
  })
  .describe(
    'Turns that the next call leaves out for lack of room; absent where the model sees all of the context. The transcript keeps them.',
  );

type LeftOut = z.infer<typeof leftOutResponse>;

export const contextObjectResponse = z.object({
  tokens: tokens.describe(
    'Of the next prompt without its message: system instruction, tools, memory, pins, snapshot and turns. After a swap what the swap counted (`compaction.afterTokens`), and estimates for what came since.',
  ),
  thresholdTokens: z
    .number()
    .nullable()
    .describe('null: nothing is compacted at a threshold (manual, off, or none is set).'),
  windowTokens: z.number(),
  /** 0–100 of the window, one decimal. */
  percent: z.number(),
  source: z.enum(['reported', 'counted', 'estimated']),
  generation: z.number().int(),
  compaction: compactionStatusResponse.nullable(),
  leftOut: leftOutResponse.optional(),
  /** At the end of a turn alone. */
  recalled: recalledResponse.optional(),
});

/**
 * How an app learns of its context: the same object in the stream, in `GET {c}`, in the status document
 * and in events.
 */
export type ContextObject = z.infer<typeof contextObjectResponse>;

interface ContextObjectSource {
  conversation: Pick<
    Conversation,
    'generation' | 'coveredThrough' | 'compactionRequests' | 'settings'
  >;
  tokens: number;
  tokensSource: ContextObject['source'];
  thresholdTokens: number | null;
  windowTokens: number;
  job: CompactionJob | undefined;
  now: Date;
  /** What the next call leaves out. */
  shrinkage: Shrinkage | undefined;
  texts: ContextTexts;
}

/** Sentences for a person, in the caller's language. */
export interface ContextTexts {
  outcome: (
    record: Pick<CompactionRecord, 'state' | 'beforeTokens' | 'afterTokens' | 'reason'>,
  ) => string;
  leftOut: (leftOut: Pick<LeftOut, 'turns' | 'remedy'>) => string;
}

function compactionStatus(source: ContextObjectSource): CompactionStatus | null {
  const { conversation, job, now } = source;
  const figures = { beforeTokens: source.tokens, afterTokens: source.tokens };
  if (job && isHeld(job, now)) {
    const state = job.step === 'verify' ? 'VERIFYING' : 'RUNNING';
    return { state, jobId: job.requestId, message: source.texts.outcome({ state, ...figures }) };
  }
  const request = requestsWithoutOutcome(conversation, job).find(
    // What was asked for before it was switched off is not served.
    ({ kind, trigger }) => kind === 'manual' || !isSwitchedOff(conversation.settings, trigger),
  );
  if (request) {
    const reason = job?.brake.pause?.reason;
    const waits = isUnpaid(reason) ? { reason } : {};
    return {
      state: 'QUEUED',
      jobId: request.requestId,
      trigger: request.trigger,
      at: request.since.toISOString(),
      ...waits,
      message: source.texts.outcome({ state: 'QUEUED', ...figures, ...waits }),
    };
  }
  const last = job?.records.at(-1);
  if (!last) return null;
  const message = source.texts.outcome(last);
  return recordStatus(last, { coveredThrough: conversation.coveredThrough, message });
}

/** The status that one attempt at a compaction leaves, or has while it works. */
export function recordStatus(
  record: Pick<
    CompactionRecord,
    'state' | 'requestId' | 'trigger' | 'beforeTokens' | 'afterTokens' | 'finishedAt' | 'reason'
  >,
  present: { coveredThrough: Conversation['coveredThrough']; message: string },
): CompactionStatus {
  return {
    state: record.state,
    jobId: record.requestId,
    trigger: record.trigger,
    beforeTokens: record.beforeTokens,
    afterTokens: record.afterTokens,
    coveredThrough: present.coveredThrough.seq,
    at: record.finishedAt.toISOString(),
    ...(record.reason !== undefined && { reason: record.reason }),
    message: present.message,
  };
}

const statesUnderWay: readonly string[] = ['QUEUED', 'RUNNING', 'VERIFYING'];

/** What is left out, and how the model gets it back. */
function leftOutView(
  { shrinkage, texts }: Pick<ContextObjectSource, 'shrinkage' | 'texts'>,
  compaction: CompactionStatus | null,
): { leftOut?: LeftOut } {
  const { turnsLeftOut: turns = 0, from, upTo } = shrinkage ?? {};
  if (from === undefined || upTo === undefined) return {};
  const isUnderWay = statesUnderWay.includes(compaction?.state ?? '');
  const remedy = isUnderWay ? 'wait' : 'compact';
  return { leftOut: { turns, from, upTo, remedy, message: texts.leftOut({ turns, remedy }) } };
}

/** The context object of the present figures and of what is known of the compaction. */
export function contextFigures(
  figures: Pick<
    ContextObjectSource,
    'tokens' | 'tokensSource' | 'thresholdTokens' | 'windowTokens' | 'shrinkage' | 'texts'
  > & { generation: number },
  compaction: CompactionStatus | null,
): ContextObject {
  return {
    tokens: figures.tokens,
    thresholdTokens: figures.thresholdTokens,
    windowTokens: figures.windowTokens,
    percent: Math.round((1_000 * figures.tokens) / figures.windowTokens) / 10,
    source: figures.tokensSource,
    generation: figures.generation,
    compaction,
    ...leftOutView(figures, compaction),
  };
}

/** The context object of a conversation document, its job and the present figures. */
export const contextObject = (source: ContextObjectSource): ContextObject =>
  contextFigures(
    { ...source, generation: source.conversation.generation },
    compactionStatus(source),
  );
