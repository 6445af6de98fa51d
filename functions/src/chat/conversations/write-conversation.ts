import { firstConversation } from '../turns/start/read-start.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { notFoundError } from '../not-found.ts';
import type { Config } from '#functions/config.ts';
import { conversationPolicy } from '#functions/config/conversation-policy.ts';
import { selectOutputForms } from '#functions/context/next-call.ts';
import { publishRequest } from '#functions/events/publish-request.ts';
import { retryWhenLost } from '#functions/lib/retry.ts';
import { readNotes } from '#functions/memory/prompt-memory.ts';
import { requestForSmallerWindow } from '#shared/compaction/trigger.ts';
import { contextTokens } from '#shared/conversation/context/meter.ts';
import { readContextParts } from '#shared/conversation/context/read-conversation.ts';
import {
  type ConversationSettings,
  type Conversation,
  decodeConversation,
  type CompactionRequests,
} from '#shared/conversation/documents/conversation.ts';
import { firstInboxWrites, inboxWrites } from '#shared/conversation/documents/inbox.ts';
import { conversationPath } from '#shared/conversation/documents/paths.ts';
import type { Caller, DocumentFields } from '#shared/ports/ports.ts';
import { toLowerUuid } from '#shared/lib/uuid.ts';
import {
  PATCH_PATHS,
  type ConversationPatch,
  type MaskPath,
  type PatchPath,
  type EntryPath,
} from '#shared/wire/resources/conversations.ts';
import { refuseMismatch } from './etag.ts';
import { isOwn, changeConversation, type ConversationTarget } from './own-conversation.ts';
import {
  refuseLargeOverhead,
  refuseRouting,
  refuseUnknownModel,
  refuseTakenNames,
  refuseThreshold,
  refuseUnwritable,
  isWritable,
  refuseManyEntries,
} from './writable-fields.ts';

/** The fields that a body sets, for a request without `updateMask`. */
function patchedPaths({ settings = {}, ...fields }: ConversationPatch): PatchPath[] {
  const settingsByPath = Object.entries(settings).map(
    ([name, value]) => [`settings.${name}`, value] as const,
  );
  const valueByPath = new Map<string, unknown>([...Object.entries(fields), ...settingsByPath]);
  return PATCH_PATHS.filter((path) => valueByPath.get(path) !== undefined);
}

/** An object with its named entries as `next` has them, where it has them. */
function replaceEntries<Value>(
  before: Readonly<Record<string, Value>>,
  next: Readonly<Record<string, Value>>,
  isNamed: (key: string) => boolean,
): Record<string, Value> {
  const others = Object.entries(before).filter(([key]) => !isNamed(key));
  const given = Object.entries(next).filter(([key]) => isNamed(key));
  return Object.fromEntries([...others, ...given]);
}

/** The settings as a request leaves them, without those that are not set. */
function patchSettings(
  before: ConversationSettings,
  { settings = {} }: ConversationPatch,
  paths: readonly MaskPath[],
): ConversationSettings {
  const named: readonly string[] = paths;
  const after = replaceEntries(before, settings, (name) => named.includes(`settings.${name}`));
  return Object.fromEntries(Object.entries(after).filter(([, value]) => value !== undefined));
}

/** The entries as a request leaves them: `metadata` names all of them, `metadata.KEY` one. */
const patchMetadata = (
  before: Conversation['metadata'],
  { metadata = {} }: ConversationPatch,
  paths: readonly MaskPath[],
): Conversation['metadata'] =>
  paths.includes('metadata')
    ? metadata
    : replaceEntries(before, metadata, (key) => paths.includes(`metadata.${key}`));

/** No tools are as none were ever declared. */
const toolsJsonOf = ({ tools = [] }: ConversationPatch): string | undefined =>
  tools.length === 0 ? undefined : JSON.stringify(tools);

type Patched = (patch: ConversationPatch, config: Config) => Partial<Conversation>;

/** What a named field becomes in the document: the patch's, else the deployment's value (AIP-134). */
const patchedFields: Readonly<
  Record<Exclude<keyof ConversationPatch, 'metadata' | 'settings'>, Patched>
> = {
  title: ({ title }) => ({ title, autoTitle: undefined }),
  archived: ({ archived }) => ({ archived }),
  pinned: ({ pinned }) => ({ pinned }),
  profile: ({ profile }, config) => ({ profile: profile ?? config.PROFILE }),
  model: ({ model }, config) => ({ model: model ?? config.MODEL }),
  systemInstruction: ({ systemInstruction }, config) => ({
    systemInstruction: systemInstruction ?? config.SYSTEM_INSTRUCTION,
  }),
  serverInstruction: ({ serverInstruction }) => ({ serverInstruction }),
  tools: (patch) => ({ toolsJson: toolsJsonOf(patch) }),
};

const isPatched = (path: MaskPath): path is keyof typeof patchedFields =>
  Object.hasOwn(patchedFields, path);

/** What the named fields are in the document from now on; those that are not named stay. */
function patchedBy(
  conversation: Conversation,
  patch: ConversationPatch,
  { paths, config }: { paths: readonly MaskPath[]; config: Config },
): Partial<Conversation> {
  let patched: Partial<Conversation> = {
    metadata: patchMetadata(conversation.metadata, patch, paths),
    settings: patchSettings(conversation.settings, patch, paths),
  };
  for (const path of paths)
    if (isPatched(path)) patched = { ...patched, ...patchedFields[path](patch, config) };
  return patched;
}

interface CreateRequest {
  caller: Caller;
  /** Drawn here when the caller chose none. */
  id?: string | undefined;
  fields: ConversationPatch;
}

function requestedConversation(
  dependencies: ChatDependencies,
  request: CreateRequest,
  memoryRevision: number,
): Conversation {
  const { config } = dependencies;
  const conversation = firstConversation(dependencies, request.caller, memoryRevision);
  const paths = patchedPaths(request.fields);
  refuseUnwritable(config, paths, request);
  refuseRouting(config, request.fields);
  refuseUnknownModel(config, request.fields, config.MODEL);
  refuseTakenNames(dependencies, request.fields);
  const patched = {
    ...conversation,
    ...patchedBy(conversation, request.fields, { paths, config }),
  };
  refuseThreshold(config, patched, request.fields);
  refuseLargeOverhead(dependencies, patched);
  return patched;
}

/**
 * Creates a conversation. An id that the caller already has gives that conversation as it is
 * (`isNew: false`), and counts as none more. Throws USER_DAILY_CREATIONS, ANONYMOUS_LIMIT, FIELD_NOT_WRITABLE,
 * ROUTING_NOT_SET, MODEL_UNKNOWN, THRESHOLD_TOO_HIGH, TOOL_NAME_TAKEN, OVERHEAD_TOO_LARGE, and NOT_FOUND for an id that
 * is taken by somebody else or deleted, as everywhere.
 */
export async function createConversation(
  dependencies: ChatDependencies,
  request: CreateRequest,
): Promise<{ conversationId: string; conversation: Conversation; isNew: boolean }> {
  const conversationId = request.id ? toLowerUuid(request.id) : dependencies.randomness.uuid();
  const path = conversationPath(conversationId);
  const { revision } = await readNotes(dependencies, request.caller.uid);
  const conversation = requestedConversation(dependencies, request, revision);
  const { store, quota, clock } = dependencies;
  return retryWhenLost(clock, async () => {
    const [document] = request.id === undefined ? [] : await store.get([path]);
    if (document) {
      const existing = decodeConversation(document).value;
      if (!isOwn(existing, request.caller)) throw notFoundError();
      return { conversationId, conversation: existing, isNew: false };
    }
    const counted = await quota.create(request.caller, 1);
    await store.commit([
      { op: 'create', path, fields: { ...conversation } },
      ...firstInboxWrites(conversationId, conversation, clock.now()),
      ...counted,
    ]);
    return { conversationId, conversation, isNew: true };
  });
}

/** What decides how much of the window is left for the conversation. */
const changesOverhead: ReadonlySet<MaskPath> = new Set([
  'systemInstruction',
  'serverInstruction',
  'tools',
  'model',
  'settings.windowTokens',
]);

/** What decides how large the window is. */
const changesWindow: ReadonlySet<MaskPath> = new Set(['model', 'settings.windowTokens']);

/** Changed fields as a write of the document: what is not there, or does not hold, is taken away. */
function writeOf(changed: Partial<Conversation>): { fields: DocumentFields; remove: string[] } {
  const entries = Object.entries(changed);
  const isGone = (value: unknown) => value === undefined || value === false;
  return {
    fields: Object.fromEntries(entries.filter(([, value]) => !isGone(value))),
    remove: entries.flatMap(([name, value]) => (isGone(value) ? [name] : [])),
  };
}

export interface UpdateRequest extends ConversationTarget {
  patch: ConversationPatch;
  /** Absent: the fields that the patch has. */
  updateMask?: MaskPath[] | undefined;
  /** The header; see `refuseMismatch`. */
  ifMatch?: string | undefined;
}

/** The fields that a request is about; those it sets although it may not are left in, to be refused. */
function pathsToWrite(
  config: Config,
  { caller, patch, updateMask }: UpdateRequest,
): (PatchPath | EntryPath)[] {
  const set = patchedPaths(patch);
  if (!updateMask) return set;
  const settings = PATCH_PATHS.filter(
    (path) =>
      path.startsWith('settings.') && (isWritable(config, path, caller) || set.includes(path)),
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
      refuseUnwritable(config, paths, request);
      refuseRouting(config, patch);
      if (paths.includes('model')) refuseUnknownModel(config, patch, conversation.value.model);
      refuseTakenNames(dependencies, patch);
      refuseMismatch(dependencies, ifMatch, conversation);
      if (paths.length === 0) return { result: { conversation: conversation.value } };
      const now = clock.now();
      const changed = {
        ...patchedBy(conversation.value, patch, { paths, config }),
        updateTime: now,
      };
      const result = { ...conversation.value, ...changed };
      refuseThreshold(config, result, patch);
      refuseManyEntries(result);
      if (paths.some((path) => changesOverhead.has(path)))
        refuseLargeOverhead(dependencies, result);
      const { fields, remove } = writeOf(changed);
      const auto = paths.some((path) => changesWindow.has(path))
        ? await requestAfterSwitch(dependencies, conversationId, {
            before: conversation.value,
            after: result,
          })
        : undefined;
      const writes = inboxWrites(conversationId, result, { now });
      if (!auto) return { fields, remove, writes, result: { conversation: result } };
      const compactionRequests = { ...result.compactionRequests, auto };
      return {
        fields: { ...fields, 'compactionRequests.auto': { ...auto } },
        remove,
        writes,
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
