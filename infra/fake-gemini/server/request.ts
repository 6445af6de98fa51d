import { z } from 'zod';

/**
 * The parts of Gemini's REST requests that the fake Gemini reads. Declared here and not taken from
 * `shared/`, so that the product is not tested against its own idea of the wire. Unknown fields stay.
 */
const partSchema = z.looseObject({
  text: z.string().optional(),
  thought: z.boolean().optional(),
  thoughtSignature: z.string().optional(),
  functionCall: z
    .looseObject({ id: z.string().optional(), name: z.string(), args: z.unknown().optional() })
    .optional(),
  functionResponse: z
    .looseObject({ id: z.string().optional(), name: z.string(), response: z.unknown().optional() })
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

const generationConfigSchema = z.looseObject({
  maxOutputTokens: z.number().optional(),
  responseJsonSchema: z.unknown().optional(),
  responseSchema: z.unknown().optional(),
});

export const modelRequestSchema = z.looseObject({
  contents: z.array(requestContentSchema).optional(),
  systemInstruction: requestContentSchema.optional(),
  tools: z.array(z.unknown()).optional(),
  toolConfig: z
    .looseObject({
      functionCallingConfig: z
        .looseObject({
          mode: z.string().optional(),
          allowedFunctionNames: z.array(z.string()).optional(),
        })
        .optional(),
    })
    .optional(),
  generationConfig: generationConfigSchema.optional(),
});
export type ModelRequestBody = z.infer<typeof modelRequestSchema>;

export type Operation = 'generateContent' | 'streamGenerateContent' | 'countTokens';

/** Where a request was sent: which API, which model, what it wants. */
export interface Address {
  api: 'gemini' | 'vertex';
  version: string;
  model: string;
  operation: Operation;
}

const geminiPath = /^\/(v[\w.]+)\/models\/([^/:]+):(\w+)$/;
const vertexPath =
  /^\/(v[\w.]+)\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/google\/models\/([^/:]+):(\w+)$/;

function toOperation(name: string): Operation | undefined {
  switch (name) {
    case 'generateContent':
    case 'streamGenerateContent':
    case 'countTokens':
      return name;
    default:
      return undefined;
  }
}

/** The address in a URL path (any version prefix, Gemini API or Vertex), or undefined. */
export function readAddress(pathname: string): Address | undefined {
  for (const [api, pattern] of [
    ['gemini', geminiPath],
    ['vertex', vertexPath],
  ] as const) {
    const found = pattern.exec(decodeURI(pathname));
    const operation = toOperation(found?.[3] ?? '');
    if (found?.[1] !== undefined && found[2] !== undefined && operation !== undefined) {
      return { api, version: found[1], model: found[2], operation };
    }
  }
  return undefined;
}

/** Text parts of a content without thoughts, one per line. */
export function contentText(content: RequestContent | undefined): string {
  return textParts(content).join('\n');
}

/** The text parts of a content, thoughts left out. */
export function textParts(content: RequestContent | undefined): string[] {
  return (content?.parts ?? []).flatMap((part) =>
    part.text !== undefined && part.thought !== true ? [part.text] : [],
  );
}

/** Index of the newest user content that has text; -1 without one. In a tool round it is not the last. */
export function lastQuestionIndex(contents: readonly RequestContent[]): number {
  return contents.findLastIndex(
    (content) => content.role !== 'model' && textParts(content).some((text) => text !== ''),
  );
}
