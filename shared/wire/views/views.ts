import { callId } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls } from '#shared/conversation/context/tool-results.ts';
import { readClientTools } from '#shared/conversation/documents/declared-tools.ts';
import type { Head, Pin } from '#shared/conversation/documents/head.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import type { CompactionRecord } from '#shared/conversation/documents/job.ts';
import type { Rating } from '#shared/conversation/documents/rating.ts';
import { loopKind } from '#shared/loops/loop-reasons.ts';
import { answerId, turnId } from '#shared/conversation/documents/paths.ts';
import {
  isTerminal,
  type Feedback,
  type Turn,
  type TurnUsage,
} from '#shared/conversation/documents/turn.ts';
import type { SignedRequest } from '#shared/ports/file-ports.ts';
import type { Upload } from '#shared/uploads/upload.ts';
import type { Device } from '#shared/user/device.ts';
import { toOutputParts } from '../message-parts.ts';
import { recalledView } from '../resources/recalled.ts';
import type { CompactionRecordView } from '../resources/compaction.ts';
import type { ConversationView } from '../resources/conversations.ts';
import { modelThatAnswered } from '#shared/conversation/context/turn-model.ts';
import type { MessageView, TurnView } from '../resources/messages.ts';
import type { DeviceView } from '../resources/devices.ts';
import type { PinView } from '../resources/pins.ts';
import type { FeedbackView, RatingView } from '../resources/ratings.ts';
import { type UsageView } from '../stream.ts';
import { toFinishReason } from '../finish-reason.ts';

/* How stored documents look on the wire. Pure; internal fields stay inside. */

/** Neither owner nor system instruction: the first is the caller, the second belongs to the deployment. */
export const conversationView = (id: string, head: Head): ConversationView => ({
  id,
  ...(head.title !== undefined && { title: head.title }),
  metadata: head.metadata,
  profile: head.profile,
  model: head.model,
  ...(head.toolsJson !== undefined && { tools: readClientTools(head) }),
  settings: head.settings,
  createTime: head.createTime.toISOString(),
  updateTime: head.updateTime.toISOString(),
  generation: head.generation,
  lastSeq: head.lastSeq,
  ...(head.deleteTime && { deleteTime: head.deleteTime.toISOString() }),
  ...(head.purgeTime && { purgeTime: head.purgeTime.toISOString() }),
  ...(head.forkedFrom && { forkedFrom: head.forkedFrom }),
});

export const pinView = ({ id, text, source, seq }: Pin): PinView => ({
  id,
  text,
  source,
  ...(seq !== undefined && { seq }),
});

export const usageView = (usage: TurnUsage): UsageView => ({
  promptTokens: usage.promptTokens,
  cachedTokens: usage.cachedTokens,
  outputTokens: usage.outputTokens,
  ...(usage.costMicros !== undefined && { costMicros: usage.costMicros }),
});

function finishReasonView({ state, finishReason }: Turn) {
  if (!isTerminal(state) || finishReason === undefined) return {};
  const loop = loopKind(finishReason);
  return { finishReason: toFinishReason(finishReason), ...(loop && { loop }) };
}

const replacesView = ({ replaces }: Turn) => (replaces === undefined ? {} : { replaces });

const unreadableView = ({ unreadable }: Turn) => (unreadable === undefined ? {} : { unreadable });

/** What a turn waits for; nothing of one that does not wait. */
function openCallsView(turn: Turn): Pick<TurnView, 'openCalls'> {
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

function modelView(turn: Turn): Pick<TurnView, 'model'> {
  const model = modelThatAnswered(turn);
  return model === undefined ? {} : { model };
}

export const turnView = (turn: Turn): TurnView => ({
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
  ...unreadableView(turn),
  ...replacesView(turn),
  ...(turn.usage && { usage: usageView(turn.usage) }),
  ...modelView(turn),
  ...(turn.routing && { routing: turn.routing }),
  ...recalledView(turn),
  ...(turn.cancelRequested !== undefined && { cancelRequested: turn.cancelRequested }),
  ...(turn.error && { error: turn.error }),
  ...openCallsView(turn),
});

const messageBase = (turn: Turn) => ({
  turnId: turnId(turn.seq),
  seq: turn.seq,
  state: turn.state,
  inContext: turn.inContext,
  ...unreadableView(turn),
  ...replacesView(turn),
});

export const userMessageView = (turn: Turn): MessageView => ({
  id: turn.messageId,
  ...messageBase(turn),
  role: 'user',
  parts: toOutputParts([turn.user]),
  createTime: turn.createTime.toISOString(),
  ...(turn.eraseTime && turn.user.parts.length === 0 && { deleted: true as const }),
});

export const feedbackView = ({ rating, reason, comment, time }: Feedback): FeedbackView => ({
  rating,
  ...(reason !== undefined && { reason }),
  ...(comment !== undefined && { comment }),
  at: time.toISOString(),
});

export const ratingView = ({ score, comment, time }: Rating): RatingView => ({
  score,
  ...(comment !== undefined && { comment }),
  at: time.toISOString(),
});

/** Its token stays inside. */
export const deviceView = ({ id, platform, locale, updateTime }: Device): DeviceView => ({
  id,
  platform,
  ...(locale !== undefined && { locale }),
  updateTime: updateTime.toISOString(),
});

/** With an address of its bytes; which turns name it stays inside. */
export const uploadView = (upload: Upload, { url, expireTime }: SignedRequest) => ({
  uploadId: upload.id,
  mimeType: upload.mimeType,
  sizeBytes: upload.sizeBytes,
  ...(upload.name !== undefined && { name: upload.name }),
  createTime: upload.createTime.toISOString(),
  url,
  expireTime: expireTime.toISOString(),
});

/** The answer as one message, tool calls included; its parts are empty while nothing is stored. */
export const answerView = (turn: Turn): MessageView => ({
  id: answerId(turn.seq),
  ...messageBase(turn),
  // What was answered behind a fold of the turn's place is in no context, whatever was folded of the turn.
  inContext: turn.inContext && turn.foldedInContext === undefined,
  role: 'model',
  parts: toOutputParts(turn.contents),
  createTime: (turn.finishTime ?? turn.createTime).toISOString(),
  ...finishReasonView(turn),
  ...recalledView(turn),
  ...(turn.eraseTime && { deleted: true as const }),
  ...(turn.feedback && { feedback: feedbackView(turn.feedback) }),
});

/** Whether there is an answer to show: a running or failed turn has none unless some of it was stored. */
export const hasAnswer = (turn: Turn) => turn.state === 'done' || turn.contents.length > 0;

type RecordMessage = (
  record: Pick<CompactionRecord, 'state' | 'beforeTokens' | 'afterTokens' | 'reason'>,
) => string;

/** An attempt that changed nothing, from the job's records. */
export const attemptView = (
  record: CompactionRecord,
  message: RecordMessage,
): CompactionRecordView => ({
  jobId: record.requestId,
  ...(record.generation !== undefined && { generation: record.generation }),
  state: record.state,
  trigger: record.trigger,
  requestedAt: record.requestedAt.toISOString(),
  finishedAt: record.finishedAt.toISOString(),
  turnsFolded: record.turnsFolded,
  beforeTokens: record.beforeTokens,
  afterTokens: record.afterTokens,
  ...(record.model !== undefined && { model: record.model }),
  calls: record.modelCalls,
  ...(record.tokens && { tokens: record.tokens }),
  ...(record.costMicros !== undefined && { costMicros: record.costMicros }),
  ...(record.variant !== undefined && { variant: record.variant }),
  durationMs: record.durationMs,
  ...(record.reason !== undefined && { reason: record.reason }),
  message: message(record),
});

/** A compaction that made a generation, from its history document. */
export const historyView = (history: History, message: RecordMessage): CompactionRecordView => ({
  jobId: history.requestId,
  generation: history.generation,
  state: history.state,
  trigger: history.trigger,
  requestedAt: history.requestedAt.toISOString(),
  finishedAt: history.createTime.toISOString(),
  from: history.from,
  upTo: history.coveredThrough.seq,
  turnsFolded: history.turnsFolded,
  beforeTokens: history.beforeTokens,
  afterTokens: history.afterTokens,
  model: history.model,
  calls: history.modelCalls,
  tokens: history.usage,
  ...(history.costMicros !== undefined && { costMicros: history.costMicros }),
  durationMs: history.durationMs,
  report: history.report,
  message: message(history),
  ...(history.restoredFrom !== undefined && { restoredFrom: history.restoredFrom }),
  strategy: history.strategy,
  ...(history.variant !== undefined && { variant: history.variant }),
  // What it says is in no context: somebody else than the server wrote it.
  ...(history.isUntrusted && { reason: 'SNAPSHOT_INVALID' }),
});
