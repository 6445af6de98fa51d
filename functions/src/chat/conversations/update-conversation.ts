import { needOfSmallerWindow } from '#shared/compaction/trigger/compaction-trigger.ts';
import type { CompactionNeeded, Head } from '#shared/conversation/documents/head.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { readContextParts } from '#shared/conversation/context/read-conversation.ts';
import type { Caller, DocumentFields } from '#shared/ports/ports.ts';
import {
  PATCH_PATHS,
  type ConversationPatch,
  type MaskPath,
  type PatchPath,
} from '#shared/wire/resources/conversations.ts';
import type { Config } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { selectOutputForms } from '#functions/context/snapshot-rendering.ts';
import { publishRequest } from '#functions/events/publish-request.ts';
import { changeHead } from './change-head.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { refuseMismatch } from './etag.ts';
import { patchedHead, patchedPaths } from './conversation-patch.ts';
import {
  isWritable,
  refuseHooks,
  refuseLargeOverhead,
  refuseRouting,
  refuseTakenNames,
  refuseThreshold,
  refuseUnwritable,
} from './writable-fields.ts';

/** What decides how much of the window is left for the conversation. */
const changesOverhead: ReadonlySet<PatchPath> = new Set([
  'systemInstruction',
  'tools',
  'model',
  'settings.windowTokens',
]);

/** What decides how large the window is. */
const changesWindow: ReadonlySet<PatchPath> = new Set(['model', 'settings.windowTokens']);

/** Fields that a patch may touch, as the head stores them; absent ones are taken away. */
function changedFields(head: Head, now: Date): { fields: DocumentFields; remove: string[] } {
  const { title, systemInstruction, toolsJson, metadata, profile, model, settings } = head;
  const remove = [
    ...(title === undefined ? ['title'] : []),
    ...(head.autoTitle === undefined ? ['autoTitle'] : []),
    ...(systemInstruction === undefined ? ['systemInstruction'] : []),
    ...(toolsJson === undefined ? ['toolsJson'] : []),
  ];
  return {
    fields: {
      metadata,
      profile,
      model,
      settings,
      updateTime: now,
      ...(title !== undefined && { title }),
      ...(systemInstruction !== undefined && { systemInstruction }),
      ...(toolsJson !== undefined && { toolsJson }),
    },
    remove,
  };
}

export interface UpdateRequest {
  caller: Caller;
  conversationId: string;
  patch: ConversationPatch;
  /** Absent: the fields that the patch has. */
  updateMask?: MaskPath[] | undefined;
  /** The header; see `refuseMismatch`. */
  ifMatch?: string | undefined;
}

/** The fields that a request is about; those it sets although it may not are left in, to be refused. */
function pathsToWrite(config: Config, { patch, updateMask }: UpdateRequest): PatchPath[] {
  const set = patchedPaths(patch);
  if (!updateMask) return set;
  const settings = PATCH_PATHS.filter(
    (path) => path.startsWith('settings.') && (isWritable(config, path) || set.includes(path)),
  );
  return updateMask.flatMap((path) => (path === 'settings' ? settings : [path]));
}

/** The need of a context that is too long for the window of another model; read only where that is smaller. */
async function needAfterSwitch(
  dependencies: ChatDependencies,
  conversationId: string,
  { before, after }: { before: Head; after: Head },
): Promise<CompactionNeeded['auto']> {
  const { config, randomness, clock } = dependencies;
  const policies = {
    before: conversationPolicy(config, before),
    after: conversationPolicy(config, after),
  };
  if (policies.after.windowTokens >= policies.before.windowTokens) return undefined;
  const parts = await readContextParts(dependencies, { conversationId, head: before });
  return needOfSmallerWindow({
    head: after,
    // In the forms in which the new model gets the outputs.
    tokens: contextTokens({ head: before, ...parts }, selectOutputForms(dependencies, after))
      .tokens,
    ...policies,
    requestId: randomness.uuid(),
    now: clock.now(),
  });
}

interface Updated {
  head: Head;
  /** Request for a compaction that the change has made necessary. */
  needed?: string | undefined;
}

/**
 * Changes a conversation and returns its new head. A model with a smaller window asks for a compaction in
 * the same write where the context has crossed its threshold. Throws NOT_FOUND, FIELD_NOT_WRITABLE, ROUTING_NOT_SET,
 * HOOK_NOT_ALLOWED, THRESHOLD_TOO_HIGH, TOOL_NAME_TAKEN, OVERHEAD_TOO_LARGE, ETAG_MISMATCH, GENERATION_MISMATCH (412),
 * BAD_SETTING.
 */
export async function updateConversation(
  dependencies: ChatDependencies,
  request: UpdateRequest,
): Promise<Head> {
  const { config, clock } = dependencies;
  const { patch, ifMatch, conversationId } = request;
  const paths = pathsToWrite(config, request);
  const updated = await changeHead<Updated>(dependencies, request, async ({ head }) => {
    refuseUnwritable(config, paths);
    refuseHooks(config, patch);
    refuseRouting(config, patch);
    refuseTakenNames(dependencies, patch);
    refuseMismatch(dependencies, ifMatch, { conversationId, head });
    if (paths.length === 0) return { result: { head: head.value } };
    const now = clock.now();
    const result = { ...patchedHead(head.value, patch, { paths, config }), updateTime: now };
    refuseThreshold(config, result, patch);
    if (paths.some((path) => changesOverhead.has(path))) refuseLargeOverhead(dependencies, result);
    const { fields, remove } = changedFields(result, now);
    const auto = paths.some((path) => changesWindow.has(path))
      ? await needAfterSwitch(dependencies, conversationId, { before: head.value, after: result })
      : undefined;
    if (!auto) return { fields, remove, result: { head: result } };
    const compactionNeeded = { ...result.compactionNeeded, auto };
    return {
      fields: { ...fields, 'compactionNeeded.auto': { ...auto } },
      remove,
      result: { head: { ...result, compactionNeeded }, needed: auto.requestId },
    };
  });
  const { head, needed } = updated;
  if (needed !== undefined)
    await publishRequest(dependencies, { conversationId, requestId: needed });
  return head;
}
