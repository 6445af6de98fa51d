import type { Content } from '#shared/models/content.ts';
import type { GroundingTool } from '#shared/models/grounding.ts';
import type { Sampling, ToolChoice } from '#shared/models/answer-options.ts';
import { modelName } from '#shared/models/model-entry.ts';
import type { ModelRequest, Prompt, ToolDeclaration } from '#shared/ports/ports.ts';
import type { CountTokensParameters, GenerateContentParameters, Tool } from '@google/genai';

type Level = NonNullable<Sampling['thinkingLevel']>;

/** Tokens of thoughts, as Google's own endpoint for clients of OpenAI translates `reasoning_effort`. */
const BUDGETS: Record<Level, number> = { minimal: 1_024, low: 1_024, medium: 8_192, high: 24_576 };

/** Models up to 2.5 have a budget of tokens, later ones levels; of those, "pro" models and Gemini 4 refuse the lowest one. */
function toThinkingConfig(model: string, level: Level): Record<string, unknown> {
  const name = modelName(model);
  if (/^gemini-[12]\b/.test(name)) return { thinkingBudget: BUDGETS[level] };
  const isLeastLow = /\bpro\b|^gemini-4\b/.test(name);
  return { thinkingLevel: (isLeastLow && level === 'minimal' ? 'low' : level).toUpperCase() };
}

/**
 * The SDK copies only the part fields it knows and throws on some. Contents therefore go into the body
 * as they are (`extraBody` replaces the array), and the SDK gets this in their place.
 */
const placeholder = [{ role: 'user', parts: [{ text: '-' }] }];

/** Which of Google's two APIs is asked. */
export interface Platform {
  isVertex: boolean;
}

function toTools(tools: readonly ToolDeclaration[] | undefined): Tool[] | undefined {
  if (tools === undefined || tools.length === 0) return undefined;
  return [{ functionDeclarations: tools.map((tool) => ({ ...tool })) }];
}

/**
 * `FunctionCallingConfig` of the Gemini API and Vertex AI: NONE as if no function was declared, ANY for a call in any
 * case.
 */
function toCallingConfig(choice: ToolChoice): Record<string, unknown> {
  if (choice === 'none') return { mode: 'NONE' };
  if (choice === 'required') return { mode: 'ANY' };
  return { mode: 'ANY', allowedFunctionNames: [choice.name] };
}

/** Google's own tools, each a tool of its own beside the functions. */
const GROUNDING: Readonly<Record<GroundingTool, Tool>> = {
  search: { googleSearch: {} },
  url: { urlContext: {} },
};

function toAllTools({ tools, grounding = [] }: ModelRequest): Tool[] | undefined {
  const all = [...(toTools(tools) ?? []), ...grounding.map((tool) => GROUNDING[tool])];
  return all.length === 0 ? undefined : all;
}

/** The Gemini API takes its own tools beside functions only with this; Vertex AI does not know the field. */
const showCalls = { includeServerSideToolInvocations: true };

/** What goes into the body as it is. The SDK knows modes as members of an enumeration that it would have to be loaded for. */
function toBody(request: ModelRequest, { isVertex }: Platform): Record<string, unknown> {
  const { contents, tools, toolChoice, model, sampling, grounding = [] } = request;
  const level = sampling?.thinkingLevel;
  const hasFunctions = (tools?.length ?? 0) > 0;
  const toolConfig = {
    ...(hasFunctions && toolChoice && { functionCallingConfig: toCallingConfig(toolChoice) }),
    ...(hasFunctions && grounding.length > 0 && !isVertex && showCalls),
  };
  return {
    contents,
    ...(Object.keys(toolConfig).length > 0 && { toolConfig }),
    ...(level && { generationConfig: { thinkingConfig: toThinkingConfig(model, level) } }),
  };
}

function toHeaderValue(text: string): string {
  return text.replaceAll(/[^\x21-\x7e]/g, '_');
}

function toHeaders(request: ModelRequest): Record<string, string> {
  return {
    'x-recap-role': request.role,
    'x-recap-prompt-id': toHeaderValue(request.promptId),
  };
}

/** Parameters of generateContent and generateContentStream; nothing that the SDK would do by itself. */
export function toGenerateParameters(
  request: ModelRequest,
  { isVertex, signal }: Platform & { signal: AbortSignal },
): GenerateContentParameters {
  const { responseJsonSchema } = request;
  const { thinkingLevel: _, ...sampling } = request.sampling ?? {};
  return {
    model: request.model,
    contents: placeholder,
    config: {
      systemInstruction: request.systemInstruction,
      tools: toAllTools(request),
      maxOutputTokens: request.maxOutputTokens,
      ...sampling,
      ...(responseJsonSchema !== undefined && {
        responseMimeType: 'application/json',
        responseJsonSchema,
      }),
      automaticFunctionCalling: { disable: true },
      automaticContinuation: false,
      abortSignal: signal,
      httpOptions: { headers: toHeaders(request), extraBody: toBody(request, { isVertex }) },
    },
  };
}

/** System instruction and tools as a content: what the Gemini API counts only in this form. */
function overheadContents(prompt: Prompt): Content[] {
  const texts = [prompt.systemInstruction, toTools(prompt.tools)]
    .filter((value) => value !== undefined && value !== '')
    .map((value) => (typeof value === 'string' ? value : JSON.stringify(value)));
  return texts.length === 0 ? [] : [{ role: 'user', parts: texts.map((text) => ({ text })) }];
}

/**
 * Parameters of countTokens for the whole prompt; undefined for an empty one. Vertex AI takes system
 * instruction and tools beside the contents (but wants contents), the Gemini API refuses them.
 */
export function toCountParameters(
  prompt: Prompt,
  options: Platform & { signal: AbortSignal },
): CountTokensParameters | undefined {
  const isNative = options.isVertex && prompt.contents.length > 0;
  const contents = isNative ? prompt.contents : [...overheadContents(prompt), ...prompt.contents];
  if (contents.length === 0) return undefined;
  return {
    model: prompt.model,
    contents: placeholder,
    config: {
      ...(isNative && {
        systemInstruction: prompt.systemInstruction,
        tools: toTools(prompt.tools),
      }),
      abortSignal: options.signal,
      httpOptions: { extraBody: { contents } },
    },
  };
}
