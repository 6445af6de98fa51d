import { callId } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import {
  modelThatAnswered,
  type Turn,
  isTerminal,
  turnStateSchema,
  type TurnUsage,
} from '#shared/conversation/documents/turn.ts';
import { turnId, answerId } from '#shared/conversation/documents/paths.ts';
import { loopKind } from '#shared/conversation/call-loop.ts';
import { routingSchema } from '#shared/models/routing.ts';
import { tokens, time } from '../fields.ts';
import { toFinishReason } from '#shared/models/finish-reason.ts';
import { z } from 'zod';

export const recalledResponse = z
  .object({
    count: z.number().int().describe('From how many turns.'),
    tokens: tokens.describe('What it took in the prompt, estimated.'),
    turns: z.array(z.string()).describe('Their ids, the oldest first.'),
  })
  .describe(
    'What was brought back of folded turns for the message; absent where nothing was. The words stand in those turns.',
  );
type RecalledView = z.infer<typeof recalledResponse>;

/** As views and context objects tell it; nothing where nothing was brought back. */
export const recalledView = ({ recalled }: Pick<Turn, 'recalled'>): { recalled?: RecalledView } =>
  recalled
    ? {
        recalled: {
          count: recalled.seqs.length,
          tokens: recalled.tokens,
          turns: recalled.seqs.map(turnId),
        },
      }
    : {};

export const finishReasonResponse = z.enum([
  'stop',
  'length',
  'content-filter',
  'tool-calls',
  'error',
  'other',
]);

export const loopResponse = z
  .enum(['text', 'calls'])
  .describe(
    'The answer was ended because its text, or its calls of tools, said the same again and again.',
  );

export const replacesResponse = z
  .number()
  .int()
  .optional()
  .describe('First of the turns that this one stands in for, after an edit or a regeneration.');

export const unreadableResponse = z
  .string()
  .optional()
  .describe(
    'Which field of the stored turn cannot be read any more: what it said is not shown and in no context. It stays stored.',
  );

export const blockedResponse = z
  .string()
  .optional()
  .describe(
    'Why a filter of the model blocks every prompt with this turn, such as `PROHIBITED_CONTENT`: it stays in the transcript and is in no context any more.',
  );

export const leftOutFilesResponse = z
  .array(
    z.object({
      turnId: z.string(),
      part: z.number().int().describe('Index in the `parts` of the turn’s message, from 0.'),
      mediaType: z.string().optional(),
    }),
  )
  .describe(
    'Files of earlier messages that the model could not read any more: it answered without them, and no later prompt shows them. Send them again to have them read.',
  );

export const turnUsageResponse = z
  .object({
    promptTokens: tokens,
    cachedTokens: tokens,
    outputTokens: tokens,
    toolTokens: tokens
      .optional()
      .describe('What Google’s tools gave the model to read beside the prompt; billed as input.'),
    searches: z.number().int().optional().describe('Of Google Search; part of the cost.'),
    costMicros: z
      .number()
      .optional()
      .describe('Millionths of a US dollar; absent where no model reported what it took.'),
  })
  .describe(
    'Of all calls of the model for the turn so far: of several replies of one turn, before and behind calls of tools that the app answers, the newest counts, and none is added to another.',
  );
type UsageView = z.infer<typeof turnUsageResponse>;

export const routingResponse = routingSchema.describe(
  'Where the model of the conversation is `auto`: which of the two answers, who chose it, and its id.',
);

/** What a turn waits for. */
export const openCallsResponse = z
  .array(
    z.object({
      callId: z.string(),
      name: z.string(),
      args: z.record(z.string(), z.unknown()),
      wants: z
        .enum(['output', 'approved'])
        .describe('output: the app runs it; approved: the server does, if the user allows it.'),
    }),
  )
  .describe('Of a turn that waits (`awaiting_tool`): what for.');

export const turnErrorResponse = z
  .object({
    status: z.string(),
    reason: z.string(),
    message: z.string(),
    retryable: z.boolean(),
  })
  .describe('Of a turn that failed: why.');

export const turnResponse = z.object({
  id: z.string(),
  seq: z.number().int(),
  state: turnStateSchema,
  attempt: z.number().int(),
  messageId: z.string(),
  answerId: z.string(),
  createTime: time,
  finishTime: time.optional(),
  finishReason: finishReasonResponse.optional(),
  loop: loopResponse.optional(),
  inContext: z.boolean(),
  unreadable: unreadableResponse,
  blocked: blockedResponse,
  replaces: replacesResponse,
  usage: turnUsageResponse.optional(),
  model: z
    .string()
    .optional()
    .describe(
      'Id of the model that answers, from the first call to the last, whatever the conversation is changed to meanwhile; absent while none is chosen.',
    ),
  routing: routingResponse.optional(),
  recalled: recalledResponse.optional(),
  leftOutFiles: leftOutFilesResponse.optional(),
  cancelRequested: z
    .boolean()
    .optional()
    .describe('Somebody asked to stop the answer; it may still run for a moment.'),
  openCalls: openCallsResponse.optional(),
  error: turnErrorResponse.optional(),
});
type TurnView = z.infer<typeof turnResponse>;

export function usageView(usage: TurnUsage): UsageView {
  const { thoughtsTokens: _, ...shown } = usage;
  return shown;
}

export function finishReasonView({ state, finishReason }: Turn) {
  if (!isTerminal(state) || finishReason === undefined) return {};
  const loop = loopKind(finishReason);
  return { finishReason: toFinishReason(finishReason), ...(loop && { loop }) };
}

export const leftOutFilesView = ({
  leftOutFiles,
}: Pick<Turn, 'leftOutFiles'>): Pick<TurnView, 'leftOutFiles'> =>
  leftOutFiles === undefined || leftOutFiles.length === 0
    ? {}
    : { leftOutFiles: leftOutFiles.map(({ seq, ...file }) => ({ turnId: turnId(seq), ...file })) };

/** What has become of a turn beside its answer. */
export const turnMarks = ({ replaces, blocked, unreadable }: Turn) => ({
  ...(unreadable !== undefined && { unreadable }),
  ...(blocked !== undefined && { blocked }),
  ...(replaces !== undefined && { replaces }),
});

/** What a turn waits for; nothing of one that does not wait. */
export function openCallsView(turn: Turn): Pick<TurnView, 'openCalls'> {
  if (turn.state !== 'awaiting_tool') return {};
  return {
    openCalls: waitingCalls(turn).map(({ index, name, args }) => ({
      callId: callId(turn.seq, index),
      name,
      args,
      wants: turn.rounds?.app.includes(index) ? 'output' : 'approved',
    })),
  };
}

export function turnView(turn: Turn): TurnView {
  const model = modelThatAnswered(turn);
  return {
    id: turnId(turn.seq),
    seq: turn.seq,
    state: turn.state,
    attempt: turn.attempt,
    messageId: turn.messageId,
    answerId: answerId(turn.seq),
    createTime: turn.createTime.toISOString(),
    ...(turn.finishTime && { finishTime: turn.finishTime.toISOString() }),
    ...finishReasonView(turn),
    inContext: turn.inContext,
    ...turnMarks(turn),
    ...(turn.usage && { usage: usageView(turn.usage) }),
    ...(model !== undefined && { model }),
    ...(turn.routing && { routing: turn.routing }),
    ...recalledView(turn),
    ...leftOutFilesView(turn),
    ...(turn.cancelRequested !== undefined && { cancelRequested: turn.cancelRequested }),
    ...(turn.error && { error: turn.error }),
    ...openCallsView(turn),
  };
}
