import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import { readClientTools } from '#shared/conversation/documents/declared-tools.ts';
import type { UrlCitation } from '#shared/grounding/url-citations.ts';
import type { ModelUsage } from '#shared/ports/ports.ts';
import type { OpenAiToolCall } from '#shared/wire/facades/openai.ts';
import type { CreateResponseBody } from '#shared/wire/facades/responses/request.ts';
import type {
  ResponseOutputItem,
  ResponseResource,
  ResponseStatus,
  ResponseUsage,
} from '#shared/wire/facades/responses/response.ts';
import { openAiFinish, openAiUsage, type CompletionResult } from '../openai/completion.ts';

/** What a model of Google takes where nothing is asked for. */
const TEMPERATURE = 1;
const TOP_P = 0.95;

/** A request as it comes back with its response. */
type Echo = Pick<
  ResponseResource,
  | 'instructions'
  | 'previous_response_id'
  | 'tools'
  | 'tool_choice'
  | 'truncation'
  | 'text'
  | 'top_p'
  | 'temperature'
  | 'reasoning'
  | 'max_output_tokens'
  | 'store'
  | 'background'
  | 'metadata'
>;

type FunctionTool = ResponseResource['tools'][number];

const functionTool = (tool: {
  name?: string | undefined;
  description?: string | null | undefined;
  parameters?: Record<string, unknown> | null | undefined;
}): FunctionTool => ({
  type: 'function',
  name: tool.name ?? '',
  description: tool.description ?? null,
  parameters: tool.parameters ?? null,
  strict: false,
});

const choiceOf = (choice: CreateResponseBody['tool_choice']): Echo['tool_choice'] =>
  typeof choice === 'object' && choice
    ? { type: 'function', name: choice.name }
    : (choice ?? 'auto');

/** What a request asked for. */
export const requestEcho = (body: CreateResponseBody, isStored: boolean): Echo => ({
  instructions: body.instructions ?? null,
  previous_response_id: body.previous_response_id ?? null,
  tools: (body.tools ?? []).map(functionTool),
  tool_choice: choiceOf(body.tool_choice),
  truncation: body.truncation ?? 'disabled',
  text: { format: body.text?.format ?? { type: 'text' } },
  top_p: body.top_p ?? TOP_P,
  temperature: body.temperature ?? TEMPERATURE,
  reasoning: { effort: body.reasoning?.effort ?? null, summary: null },
  max_output_tokens: body.max_output_tokens ?? null,
  store: isStored,
  background: body.background ?? false,
  metadata: body.metadata ?? {},
});

/** The same of a stored response, as far as its conversation knows it. Its instruction may be the operator's, and is told to nobody. */
export const storedEcho = (conversation: Conversation): Echo => ({
  ...requestEcho({ input: '' }, true),
  tools: readClientTools(conversation).map(functionTool),
});

/** A response that has begun. */
export const begunResponse = (
  echo: Echo,
  begun: Pick<ResponseResource, 'id' | 'created_at' | 'model' | 'recap'> & {
    ignored: readonly string[];
  },
): ResponseResource => ({
  id: begun.id,
  object: 'response',
  created_at: begun.created_at,
  completed_at: null,
  status: 'in_progress',
  error: null,
  incomplete_details: null,
  model: begun.model,
  output: [],
  usage: null,
  conversation: begun.recap ? { id: begun.recap.conversationId } : null,
  ...echo,
  parallel_tool_calls: true,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  max_tool_calls: null,
  service_tier: 'default',
  safety_identifier: null,
  prompt_cache_key: null,
  ...(begun.recap && { recap: begun.recap }),
  ...(begun.ignored.length > 0 && { ignored: [...begun.ignored] }),
});

/** Tokens in the words of this protocol; both count them alike. */
export const responseUsage = (usage: ModelUsage): ResponseUsage => {
  const { prompt_tokens, completion_tokens, total_tokens, ...details } = openAiUsage(usage);
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: details.prompt_tokens_details,
    output_tokens: completion_tokens,
    output_tokens_details: details.completion_tokens_details,
    total_tokens,
  };
};

type MessageItem = Extract<ResponseOutputItem, { type: 'message' }>;
type ItemStatus = MessageItem['status'];

type OutputText = MessageItem['content'][number];

export const outputText = (text: string, citations: readonly UrlCitation[] = []): OutputText => ({
  type: 'output_text',
  text,
  annotations: citations.map((citation) => ({ type: 'url_citation', ...citation })),
  logprobs: [],
});

export const messageItem = (
  id: string,
  content: readonly OutputText[],
  status: ItemStatus,
): MessageItem => ({ type: 'message', id, status, role: 'assistant', content: [...content] });

/** How calls of an answer are named. */
type NameCall = (callId: string) => string;

/** A call, and before it what the model has signed it with, where the client has to keep that. */
export function callItems(call: OpenAiToolCall, nameCall: NameCall): ResponseOutputItem[] {
  const { name, arguments: args } = call.function;
  const id = nameCall(call.id);
  const signature = call.extra_content?.google.thought_signature;
  const signed: ResponseOutputItem[] =
    signature === undefined
      ? []
      : [{ type: 'reasoning', id: `rs_${id}`, summary: [], encrypted_content: signature }];
  return [
    ...signed,
    {
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: args,
      status: 'completed',
    },
  ];
}

/** How an answer ended. What was stopped has no reason of the model; what waits for the user's word is not whole. */
export function answerEnd(
  result: CompletionResult,
  { approvals = [] }: { approvals?: readonly object[] | undefined },
): Pick<ResponseResource, 'status' | 'incomplete_details'> {
  const status = (name: ResponseStatus) => ({ status: name, incomplete_details: null });
  if ((result.toolCalls ?? []).length > 0) return status('completed');
  if (approvals.length > 0)
    return { status: 'incomplete', incomplete_details: { reason: 'approval_required' } };
  if (result.finishReason === undefined) return status('cancelled');
  switch (openAiFinish(result)) {
    case 'length':
      return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
    case 'content_filter':
      return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
    case 'stop':
    case 'tool_calls':
      return status('completed');
  }
}
