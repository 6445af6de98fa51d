import type { Config } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { selectOutputForms } from '#functions/context/output-forms.ts';
import { publishRequest } from '#functions/events/publish-request.ts';
import { requestForSmallerWindow } from '#shared/compaction/trigger.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { readContextParts } from '#shared/conversation/context/read-conversation.ts';
import type {
  CompactionRequests,
  Conversation,
} from '#shared/conversation/documents/conversation.ts';
import type { Caller, DocumentFields } from '#shared/ports/ports.ts';
import {
  PATCH_PATHS,
  type ConversationPatch,
  type EntryPath,
  type MaskPath,
  type PatchPath,
} from '#shared/wire/resources/conversations.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { changeConversation } from './change-conversation.ts';
import { patchedConversation, patchedPaths } from './conversation-patch.ts';
import { refuseMismatch } from './etag.ts';
import {
  isWritable,
  refuseManyEntries,
  refuseLargeOverhead,
  refuseRouting,
  refuseUnknownModel,
  refuseTakenNames,
  refuseThreshold,
  refuseUnwritable,
} from './writable-fields.ts';

/** What decides how much of the window is left for the conversation. */
const changesOverhead: ReadonlySet<MaskPath> = new Set([
  'systemInstruction',
  'tools',
  'model',
  'settings.windowTokens',
]);

/** What decides how large the window is. */
const changesWindow: ReadonlySet<MaskPath> = new Set(['model', 'settings.windowTokens']);

/** Fields that a patch may touch, as the conversation document stores them; absent ones are taken away. */
function changedFields(
  conversation: Conversation,
  now: Date,
): { fields: DocumentFields; remove: string[] } {
  const { title, systemInstruction, toolsJson, metadata, profile, model, settings } = conversation;
  const remove = [
    ...(title === undefined ? ['title'] : []),
    ...(conversation.autoTitle === undefined ? ['autoTitle'] : []),
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
function pathsToWrite(
  config: Config,
  { patch, updateMask }: UpdateRequest,
): (PatchPath | EntryPath)[] {
  const set = patchedPaths(patch);
  if (!updateMask) return set;
  const settings = PATCH_PATHS.filter(
    (path) => path.startsWith('settings.') && (isWritable(config, path) || set.includes(path)),
  );
  return updateMask.flatMap((path) => (path === 'settings' ? settings : [path]));
}

/** The compaction that a context asks for which is too long for the window of another model; read only where that is smaller. */
async function requestAfterSwitch(
  dependencies: ChatDependencies,
  conversationId: string,
  { before, after }: { before: Conversation; after: Conversation },
): Promise<CompactionRequests['auto']> {
  const { config, randomness, clock } = dependencies;
  const policies = {
    before: conversationPolicy(config, before),
    after: conversationPolicy(config, after),
  };
  if (policies.after.windowTokens >= policies.before.windowTokens) return undefined;
  const parts = await readContextParts(dependencies, { conversationId, conversation: before });
  return requestForSmallerWindow({
    conversation: after,
    // In the forms in which the new model gets the outputs.
    tokens: contextTokens(
      { conversation: before, ...parts },
      selectOutputForms(dependencies, after),
    ).tokens,
    ...policies,
    requestId: randomness.uuid(),
    now: clock.now(),
  });
}

interface Updated {
  conversation: Conversation;
  /** Request for a compaction that the change has made necessary. */
  compactionRequestId?: string | undefined;
}

/**
 * Changes a conversation and returns its new document. A model with a smaller window asks for a compaction in
 * the same write where the context has crossed its threshold. Throws NOT_FOUND, FIELD_NOT_WRITABLE, ROUTING_NOT_SET,
 * MODEL_UNKNOWN, THRESHOLD_TOO_HIGH, TOOL_NAME_TAKEN, OVERHEAD_TOO_LARGE, ETAG_MISMATCH, GENERATION_MISMATCH (412),
 * BAD_SETTING.
 */
export async function updateConversation(
  dependencies: ChatDependencies,
  request: UpdateRequest,
): Promise<Conversation> {
  const { config, clock } = dependencies;
  const { patch, ifMatch, conversationId } = request;
  const paths = pathsToWrite(config, request);
  const updated = await changeConversation<Updated>(
    dependencies,
    request,
    async ({ conversation }) => {
      refuseUnwritable(config, paths);
      refuseRouting(config, patch);
      if (paths.includes('model')) refuseUnknownModel(config, patch, conversation.value.model);
      refuseTakenNames(dependencies, patch);
      refuseMismatch(dependencies, ifMatch, { conversationId, conversation });
      if (paths.length === 0) return { result: { conversation: conversation.value } };
      const now = clock.now();
      const result = {
        ...patchedConversation(conversation.value, patch, { paths, config }),
        updateTime: now,
      };
      refuseThreshold(config, result, patch);
      refuseManyEntries(result);
      if (paths.some((path) => changesOverhead.has(path)))
        refuseLargeOverhead(dependencies, result);
      const { fields, remove } = changedFields(result, now);
      const auto = paths.some((path) => changesWindow.has(path))
        ? await requestAfterSwitch(dependencies, conversationId, {
            before: conversation.value,
            after: result,
          })
        : undefined;
      if (!auto) return { fields, remove, result: { conversation: result } };
      const compactionRequests = { ...result.compactionRequests, auto };
      return {
        fields: { ...fields, 'compactionRequests.auto': { ...auto } },
        remove,
        result: {
          conversation: { ...result, compactionRequests },
          compactionRequestId: auto.requestId,
        },
      };
    },
  );
  const { conversation, compactionRequestId } = updated;
  if (compactionRequestId !== undefined)
    await publishRequest(dependencies, { conversationId, requestId: compactionRequestId });
  return conversation;
}
