import { summaryStrategies, type SummaryStrategy } from '#shared/conversation/documents/history.ts';
import { AppError } from '#shared/lib/errors.ts';
import { settingSchema, type PolicySettings } from '#shared/compaction/policy-settings.ts';
import { resolvePolicy, type CompactionPolicy } from '#shared/compaction/policy.ts';
import { profileSchema, type Profile } from '#shared/conversation/documents/snapshot.ts';
import { parseRequest } from '#shared/wire/errors/validation-error.ts';
import { compactionSnapshotSchema, contentsSchema } from './contents-as-turns.ts';
import { z } from 'zod';

/** When a history is compacted, and what is left of it. Tokens are estimated; whatever is absent has a default. */
export interface CompactionSettings extends Pick<
  PolicySettings,
  | 'thresholdFraction'
  | 'thresholdTokens'
  | 'tailTokens'
  | 'snapshotBudgetTokens'
  | 'toolOutputBudgetTokens'
  | 'preserveFraction'
> {
  /** The model that the contents are for: its window, its thresholds and what pictures cost. */
  model?: string | undefined;
  /** Tokens of its context window; default: that of `model`, 1,048,576 where that is not known. */
  windowTokens?: number | undefined;
  /** What system instruction and tools take of the window beside the contents; default 0. */
  overheadTokens?: number | undefined;
  /** `assistant` (default): people; `coding`: tools on files; `gemini-cli`: as that program does it. */
  profile?: Profile | undefined;
  /** `ledger` (default): checked statements; `gemini-cli`: a text, in two calls, for models without structured output. */
  strategy?: SummaryStrategy | undefined;
}

const tokens = z.number().int().nonnegative();

const policySchema = z.strictObject({
  thresholdFraction: settingSchema('thresholdFraction'),
  thresholdTokens: settingSchema('thresholdTokens'),
  tailTokens: settingSchema('tailTokens'),
  snapshotBudgetTokens: settingSchema('snapshotBudgetTokens'),
  toolOutputBudgetTokens: settingSchema('toolOutputBudgetTokens'),
  preserveFraction: settingSchema('preserveFraction'),
  model: z.string().min(1).optional(),
  windowTokens: tokens.min(1).optional(),
  overheadTokens: tokens.optional(),
  profile: profileSchema.optional(),
  strategy: z.enum(summaryStrategies).optional(),
});

const fields = {
  contents: contentsSchema,
  snapshot: compactionSnapshotSchema.optional(),
  policy: policySchema.default({}),
  trigger: z.enum(['auto', 'manual']).default('auto'),
  focus: z.string().max(1_000).optional(),
  notes: z.array(z.string().max(4_000)).max(16).optional(),
  answer: z.string(),
  budgetTokens: tokens.min(1),
};
type Fields = typeof fields;

/**
 * The named fields of an input, as they were given: contents that are returned are the same objects. Throws AppError
 * INVALID_ARGUMENT whose message names the field.
 */
export function checkedInput<Name extends keyof Fields>(
  input: { [Field in Name]?: unknown },
  names: readonly Name[],
): z.infer<z.ZodObject<Pick<Fields, Name>>> {
  const schema = z.object(Object.fromEntries(names.map((name) => [name, fields[name]])));
  const given = Object.fromEntries(names.map((name) => [name, input[name]]));
  try {
    const read: Record<string, unknown> = parseRequest(schema, given);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it was read by the schema of these fields
    return { ...read, ...('contents' in given && { contents: given['contents'] }) } as z.infer<
      z.ZodObject<Pick<Fields, Name>>
    >;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { status, reason, publicMessage, metadata } = error;
    throw new AppError({
      status,
      reason,
      message: publicMessage.replaceAll('of this request', 'of this call'),
      publicMessage,
      metadata,
      cause: error,
    });
  }
}

/** A model that nobody named. */
const UNNAMED = 'unnamed';

export function choosePolicy(settings: CompactionSettings): {
  model: string;
  profile: Profile;
  strategy: SummaryStrategy;
  policy: CompactionPolicy;
} {
  const {
    model = UNNAMED,
    windowTokens,
    overheadTokens,
    profile = 'assistant',
    ...given
  } = settings;
  const { strategy = profile === 'gemini-cli' ? 'gemini-cli' : 'ledger', ...conversation } = given;
  const policy = resolvePolicy({
    conversation,
    model,
    profile,
    strategy,
    overheadTokens,
    ...(windowTokens !== undefined && { windowOverrides: { [model]: windowTokens } }),
  });
  return { model, profile, strategy, policy };
}
