import { badField, AppError } from '#shared/lib/errors.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import type { Config } from '#functions/config.ts';
import { meterCounting, conversationPolicy } from '#functions/config/conversation-policy.ts';
import type { CLIENT_WRITABLE_FIELDS } from '#functions/config/environment.ts';
import { knownModelNames } from '#functions/models/models-in-use.ts';
import { refuseOverhead } from '#shared/compaction/policy.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { readClientTools, toDeclaration } from '#shared/conversation/documents/declared-tools.ts';
import { isKnownModel, unknownModelAdvice } from '#shared/models/known-models.ts';
import { isRouted } from '#shared/models/routing.ts';
import { estimatePromptTokens } from '#shared/tokens/token-estimate.ts';
import { METADATA_ENTRIES_MAX, THRESHOLD_MIN_TOKENS } from '#shared/lib/limits.ts';
import {
  fieldGuards,
  isEntryPath,
  type ConversationPatch,
  type EntryPath,
  type PatchPath,
} from '#shared/wire/resources/conversations.ts';
import { promptInstruction } from '#shared/conversation/context/assemble-context.ts';
import type { Caller } from '#shared/ports/ports.ts';

type Guarded = (typeof CLIENT_WRITABLE_FIELDS)[number];

/** Whether this deployment lets a caller write a field; absent: a user. A server of the app writes all of them. */
export function isWritable(
  config: Pick<Config, 'CLIENT_WRITABLE'>,
  path: PatchPath,
  caller?: Pick<Caller, 'actor'>,
): boolean {
  const guard = fieldGuards[path];
  if (guard === 'user' || caller?.actor !== undefined) return true;
  return guard !== 'server' && config.CLIENT_WRITABLE.includes(guard);
}

const notWritable = (field: string, guard: Guarded | 'server') =>
  new AppError({
    reason: 'FIELD_NOT_WRITABLE',
    publicMessage: `\`${field}\` is set by the deployment. Leave it out, or let ${
      guard === 'server'
        ? 'a server write it, with a service account that ADMIN_SERVICE_ACCOUNTS lists'
        : `the deployment list ${guard} in CLIENT_WRITABLE`
    }.`,
    metadata: { field },
  });

/**
 * Throws AppError FIELD_NOT_WRITABLE (400) for the first field that this deployment keeps to itself. `names`: what a
 * protocol calls a field that it has under another name; `caller`: see `isWritable`.
 */
export function refuseUnwritable(
  config: Pick<Config, 'CLIENT_WRITABLE'>,
  paths: readonly (PatchPath | EntryPath)[],
  { names = {}, caller }: { names?: Partial<Record<PatchPath, string>>; caller?: Caller } = {},
): void {
  for (const path of paths) {
    if (isEntryPath(path)) continue;
    const guard = fieldGuards[path];
    if (guard !== 'user' && !isWritable(config, path, caller))
      throw notWritable(names[path] ?? path, guard);
  }
}

/** Throws BAD_FIELD (400) where entries that are set one by one come to too many. */
export function refuseManyEntries({ metadata }: Pick<Conversation, 'metadata'>): void {
  const count = Object.keys(metadata).length;
  if (count <= METADATA_ENTRIES_MAX) return;
  throw badField(
    'metadata',
    `\`metadata\` would have ${count} entries; the limit is ${METADATA_ENTRIES_MAX}. Take one away: name it in \`updateMask\` and leave it out of the body.`,
  );
}

const tooHigh = (field: string, limitTokens: number) =>
  new AppError({
    reason: 'THRESHOLD_TOO_HIGH',
    publicMessage: `\`settings.${field}\` may ask for at most the deployment's threshold of ${limitTokens} tokens. Choose a lower one.`,
    metadata: { field: `settings.${field}`, limitTokens: String(limitTokens) },
  });

const tooLow = (windowTokens: number) =>
  new AppError({
    reason: 'THRESHOLD_TOO_LOW',
    publicMessage: `\`settings.thresholdFraction\` must come to at least ${THRESHOLD_MIN_TOKENS} of the window's ${windowTokens} tokens. Choose a higher one.`,
    metadata: { field: 'settings.thresholdFraction', limitTokens: String(THRESHOLD_MIN_TOKENS) },
  });

/**
 * A caller may have compaction earlier than the deployment, not later: that is the deployment's money. Nor so early
 * that every message buys one. Throws AppError THRESHOLD_TOO_HIGH, THRESHOLD_TOO_LOW (400). `conversation` is the
 * document as it would be written.
 */
export function refuseThreshold(
  config: Config,
  conversation: Conversation,
  patch: ConversationPatch,
): void {
  const { thresholdTokens, thresholdFraction, ...others } = conversation.settings;
  const policy = conversationPolicy(config, { ...conversation, settings: others });
  const limitTokens = policy.softThresholdTokens;
  if (!patch.settings) return;
  if (
    thresholdFraction !== undefined &&
    thresholdFraction * policy.windowTokens < THRESHOLD_MIN_TOKENS
  )
    throw tooLow(policy.windowTokens);
  if (limitTokens === null) return;
  if (thresholdTokens !== undefined && thresholdTokens > limitTokens)
    throw tooHigh('thresholdTokens', limitTokens);
  if (thresholdFraction !== undefined && thresholdFraction * policy.windowTokens > limitTokens)
    throw tooHigh('thresholdFraction', limitTokens);
}

/** Throws AppError ROUTING_NOT_SET (400) for `auto` where the deployment names no models to choose from. */
export function refuseRouting(
  { routing }: Pick<Config, 'routing'>,
  { model }: ConversationPatch,
): void {
  if (model === undefined || !isRouted(model) || routing) return;
  throw new AppError({
    reason: 'ROUTING_NOT_SET',
    publicMessage:
      '`model` is `auto`, but this deployment has no models to choose from. Name a model, or let the deployment set ROUTING_MODELS.',
    metadata: { field: 'model' },
  });
}

/**
 * Throws AppError MODEL_UNKNOWN (400) for a model that nobody knows, before a conversation with it fails at its first
 * message. `before` is the conversation's present model, which may always stay.
 */
export function refuseUnknownModel(
  config: Config,
  { model }: ConversationPatch,
  before?: string,
): void {
  if (model === undefined || model === before || isRouted(model)) return;
  const known = knownModelNames(config);
  if (isKnownModel(model, known)) return;
  throw new AppError({
    reason: 'MODEL_UNKNOWN',
    publicMessage: `\`model\` names no model that is known here. ${unknownModelAdvice(known)}. A deployment makes another one known by MODEL_WINDOWS.`,
    metadata: { field: 'model' },
  });
}

/** Throws AppError TOOL_NAME_TAKEN (400) for a tool with the name of one that this server runs. */
export function refuseTakenNames(
  { toolbox }: Pick<ChatDependencies, 'toolbox'>,
  patch: ConversationPatch,
) {
  for (const [index, { name }] of (patch.tools ?? []).entries()) {
    if (!toolbox.find(name)) continue;
    throw new AppError({
      reason: 'TOOL_NAME_TAKEN',
      publicMessage: `\`tools[${index}].name\` is \`${name}\`, the name of a tool that the server runs. Choose another one.`,
      metadata: { field: `tools[${index}].name` },
    });
  }
}

/**
 * Refuses a system instruction with tools that take more than half of the window, where they, the model or the window
 * is written: later, nobody could talk in that conversation. Throws AppError OVERHEAD_TOO_LARGE (400).
 */
export function refuseLargeOverhead(
  { config, toolbox }: Pick<ChatDependencies, 'config' | 'toolbox'>,
  conversation: Conversation,
): void {
  const systemInstruction = promptInstruction(conversation);
  const prompt = {
    ...(systemInstruction !== undefined && { systemInstruction }),
    tools: [...toolbox.declarations, ...readClientTools(conversation).map(toDeclaration)],
    contents: [],
  };
  refuseOverhead({
    overheadTokens: estimatePromptTokens(prompt, meterCounting(conversation)),
    windowTokens: conversationPolicy(config, conversation).windowTokens,
  });
}
