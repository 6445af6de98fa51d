import { z } from 'zod';

/**
 * The parts of Gemini's REST requests that the fake Gemini reads. Declared here and not taken from
 * `shared/`, so that the product is not tested against its own idea of the wire. Unknown fields stay.
 */
const partSchema = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z.looseObject({ name: z.string(), args: z.unknown().optional() }).optional(),
  functionResponse: z
    .looseObject({ name: z.string(), response: z.unknown().optional() })
    .optional(),
  inlineData: z.looseObject({ mimeType: z.string().optional() }).optional(),
  fileData: z.looseObject({ mimeType: z.string().optional() }).optional(),
});
export type RequestPart = z.infer<typeof partSchema>;

export const requestContentSchema = z.looseObject({
  role: z.string().optional(),
  parts: z.array(partSchema).optional(),
});
export type RequestContent = z.infer<typeof requestContentSchema>;

const callingConfigSchema = z.looseObject({
  mode: z.string().optional(),
  allowedFunctionNames: z.array(z.string()).optional(),
});

export const modelRequestSchema = z.looseObject({
  contents: z.array(requestContentSchema).optional(),
  systemInstruction: requestContentSchema.optional(),
  tools: z.array(z.unknown()).optional(),
  toolConfig: z.looseObject({ functionCallingConfig: callingConfigSchema.optional() }).optional(),
  generationConfig: z
    .looseObject({
      maxOutputTokens: z.number().optional(),
      responseJsonSchema: z.unknown().optional(),
    })
    .optional(),
});
export type ModelRequestBody = z.infer<typeof modelRequestSchema>;

const operationSchema = z.enum(['generateContent', 'streamGenerateContent', 'countTokens']);
export type Operation = z.infer<typeof operationSchema>;

/** Where a request was sent: which API, which model, what it wants. */
export interface Address {
  api: 'gemini' | 'vertex';
  version: string;
  model: string;
  operation: Operation;
}

const modelPath =
  /^\/(v[\w.]+)\/((?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/google\/)?models\/([^/:]+):(\w+)$/;

/** The address in a URL path (any version prefix, Gemini API or Vertex), or undefined. */
export function readAddress(pathname: string): Address | undefined {
  const [, version, publisher, model, name] = modelPath.exec(decodeURI(pathname)) ?? [];
  const operation = operationSchema.safeParse(name).data;
  if (version === undefined || model === undefined || operation === undefined) return undefined;
  return { api: publisher === undefined ? 'gemini' : 'vertex', version, model, operation };
}

/** What a schema takes of a JSON text, or undefined. */
export function readJson<T>(schema: z.ZodType<T>, text: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Text parts of a content without thoughts, one per line. */
export const contentText = (content: RequestContent | undefined): string =>
  textParts(content).join('\n');

/** The text parts of a content, thoughts left out. */
export function textParts(content: RequestContent | undefined): string[] {
  return (content?.parts ?? []).flatMap((part) =>
    part.text !== undefined && part.thought !== true ? [part.text] : [],
  );
}

/** Index of the newest user content that has text; -1 without one. In a tool round it is not the last. */
export const lastQuestionIndex = (contents: readonly RequestContent[]): number =>
  contents.findLastIndex((content) => content.role !== 'model' && contentText(content) !== '');
