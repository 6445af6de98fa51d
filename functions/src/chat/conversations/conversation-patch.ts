import type {
  ConversationSettings,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import {
  PATCH_PATHS,
  type ConversationPatch,
  type MaskPath,
  type PatchPath,
} from '#shared/wire/resources/conversations.ts';
import type { Config } from '#functions/config.ts';

/** A patch by path, settings included. */
const valuesByPath = (patch: ConversationPatch): Readonly<Record<PatchPath, unknown>> => ({
  title: patch.title,
  metadata: patch.metadata,
  profile: patch.profile,
  model: patch.model,
  systemInstruction: patch.systemInstruction,
  tools: patch.tools,
  'settings.thresholdTokens': patch.settings?.thresholdTokens,
  'settings.thresholdFraction': patch.settings?.thresholdFraction,
  'settings.windowTokens': patch.settings?.windowTokens,
  'settings.onBusy': patch.settings?.onBusy,
  'settings.compaction': patch.settings?.compaction,
  'settings.recallTokens': patch.settings?.recallTokens,
  'settings.routing': patch.settings?.routing,
});

/** The fields that a body sets, for a request without `updateMask`. */
export function patchedPaths(patch: ConversationPatch): PatchPath[] {
  const values = valuesByPath(patch);
  return PATCH_PATHS.filter((path) => values[path] !== undefined);
}

function patchSettings(
  settings: ConversationSettings,
  patch: ConversationPatch,
  paths: readonly MaskPath[],
): ConversationSettings {
  const has = (path: PatchPath) => paths.includes(path);
  const next = patch.settings ?? {};
  const merged: ConversationSettings = {
    thresholdTokens: has('settings.thresholdTokens')
      ? next.thresholdTokens
      : settings.thresholdTokens,
    thresholdFraction: has('settings.thresholdFraction')
      ? next.thresholdFraction
      : settings.thresholdFraction,
    windowTokens: has('settings.windowTokens') ? next.windowTokens : settings.windowTokens,
    onBusy: has('settings.onBusy') ? next.onBusy : settings.onBusy,
    compaction: has('settings.compaction') ? next.compaction : settings.compaction,
    recallTokens: has('settings.recallTokens') ? next.recallTokens : settings.recallTokens,
    routing: has('settings.routing') ? next.routing : settings.routing,
  };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}

/** The entries as a request leaves them: `metadata` names all of them, `metadata.KEY` one. */
function patchMetadata(
  metadata: Conversation['metadata'],
  patch: ConversationPatch,
  paths: readonly MaskPath[],
): Conversation['metadata'] {
  const next = patch.metadata ?? {};
  if (paths.includes('metadata')) return next;
  const isNamed = (key: string) => paths.includes(`metadata.${key}`);
  const others = Object.entries(metadata).filter(([key]) => !isNamed(key));
  const given = Object.entries(next).filter(([key]) => isNamed(key));
  return Object.fromEntries([...others, ...given]);
}

/** No tools are as none were ever declared. */
const toolsJsonOf = ({ tools = [] }: ConversationPatch): string | undefined =>
  tools.length === 0 ? undefined : JSON.stringify(tools);

/**
 * The conversation document with the named fields taken from the patch. A named field that the patch does not have goes
 * back to the deployment's value (AIP-134); fields that are not named stay.
 */
export function patchedConversation(
  conversation: Conversation,
  patch: ConversationPatch,
  options: { paths: readonly MaskPath[]; config: Config },
): Conversation {
  const { paths, config } = options;
  const has = (path: PatchPath) => paths.includes(path);
  return {
    ...conversation,
    title: has('title') ? patch.title : conversation.title,
    autoTitle: has('title') ? undefined : conversation.autoTitle,
    metadata: patchMetadata(conversation.metadata, patch, paths),
    profile: has('profile') ? (patch.profile ?? config.PROFILE) : conversation.profile,
    model: has('model') ? (patch.model ?? config.MODEL) : conversation.model,
    systemInstruction: has('systemInstruction')
      ? (patch.systemInstruction ?? config.SYSTEM_INSTRUCTION)
      : conversation.systemInstruction,
    toolsJson: has('tools') ? toolsJsonOf(patch) : conversation.toolsJson,
    settings: patchSettings(conversation.settings, patch, paths),
  };
}
