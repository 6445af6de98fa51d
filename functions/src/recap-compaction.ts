/* What the package gives as `recap/compaction`: compaction for who keeps the history elsewhere. Needs no Google Cloud. */
export { fromAiSdk, type AiSdkModel, type OtherModel } from './app.ts';
export {
  chooseSplit,
  compact,
  estimateTokens,
  matchesHistory,
  renderSnapshot,
  shortenToolOutputs,
  verifySummary,
  type CompactInput,
  type CompactionReport,
  type CompactionUsage,
  type CompactResult,
  type HistoryInput,
  type Split,
  type VerifiedSummary,
} from './external-history/compact.ts';
export {
  compactionSnapshotSchema,
  type CompactionSnapshot,
  type ContentTime,
} from './external-history/contents-as-turns.ts';
export type { CompactionSettings } from './external-history/settings.ts';
export {
  fromGemini,
  type CompactionModel,
  type SummaryFunction,
  type SummaryModel,
  type SummaryPrompt,
  type SummaryText,
} from './external-history/summary-models.ts';
export type { Content, Part } from '#shared/models/content.ts';
export { AppError } from '#shared/lib/errors.ts';
