import type { Content, Part } from '../conversation/documents/content.ts';
import { AppError } from '../errors.ts';
import { unreadUpload } from '../uploads/upload-parts.ts';
import type { InputPart } from './resources/messages.ts';

export interface MessageLimits {
  maxPartBytes: number;
  maxMessageBytes: number;
}

const encoder = new TextEncoder();
const sizeBytes = (text: string) => encoder.encode(text).length;

const tooLong = (what: { subject: string; remedy: string; bytes: number; limitBytes: number }) =>
  new AppError({
    status: 'INVALID_ARGUMENT',
    reason: 'TEXT_TOO_LONG',
    message: `${what.subject} of ${what.bytes} bytes refused, limit ${what.limitBytes}`,
    publicMessage: `${what.subject} has ${what.bytes} bytes; the limit is ${what.limitBytes}. ${what.remedy}`,
    metadata: {
      field: what.subject.replaceAll('`', ''),
      sizeBytes: String(what.bytes),
      limitBytes: String(what.limitBytes),
    },
  });

/** Bytes that a part counts: the UTF-8 of its text, or the base64 of its data. */
const partBytes = (part: InputPart) =>
  part.type === 'text' ? sizeBytes(part.text) : (part.data?.length ?? part.url?.length ?? 0);

/** Throws AppError TEXT_TOO_LONG (400) that names the part by its `path`, its size and the limit. */
export function refuseTooLong(
  parts: readonly InputPart[],
  limits: MessageLimits,
  path = 'message.parts',
): void {
  let total = 0;
  for (const [index, part] of parts.entries()) {
    const bytes = partBytes(part);
    total += bytes;
    if (part.type === 'text' && bytes > limits.maxPartBytes)
      throw tooLong({
        subject: `\`${path}[${index}].text\``,
        remedy: 'Shorten it or split it into parts.',
        bytes,
        limitBytes: limits.maxPartBytes,
      });
  }
  if (total > limits.maxMessageBytes)
    throw tooLong({
      subject: `\`${path}\``,
      remedy: 'Send less in one message.',
      bytes: total,
      limitBytes: limits.maxMessageBytes,
    });
}

/** A part of the wire as the model and the store have it. */
export function toPart(part: InputPart): Part {
  switch (part.type) {
    case 'text':
      return { text: part.text };
    case 'file': {
      const { mediaType: mimeType = '', data, url = '', uploadId } = part;
      if (uploadId !== undefined) return unreadUpload(uploadId);
      return data === undefined
        ? { fileData: { mimeType, fileUri: url } }
        : { inlineData: { mimeType, data } };
    }
  }
}

/** A part as a transcript shows it. */
type OutputPart =
  | { type: 'text'; text: string }
  | {
      type: 'file';
      mediaType?: string;
      data?: string;
      url?: string;
      uploadId?: string;
      name?: string;
    }
  | { type: 'functionCall'; name: string; args: Record<string, unknown> }
  | { type: 'functionResponse'; name: string; response: Record<string, unknown> };

function fromPart(part: Part): OutputPart[] {
  if (part.thought === true) return [];
  if (part.upload) {
    const { id: uploadId, mimeType: mediaType, name } = part.upload;
    return [{ type: 'file', mediaType, uploadId, ...(name !== undefined && { name }) }];
  }
  if (part.text !== undefined) return part.text === '' ? [] : [{ type: 'text', text: part.text }];
  if (part.inlineData)
    return [{ type: 'file', mediaType: part.inlineData.mimeType, data: part.inlineData.data }];
  if (part.fileData) {
    const { mimeType, fileUri } = part.fileData;
    return [{ type: 'file', ...(mimeType !== undefined && { mediaType: mimeType }), url: fileUri }];
  }
  if (part.functionCall)
    return [
      { type: 'functionCall', name: part.functionCall.name, args: part.functionCall.args ?? {} },
    ];
  if (part.functionResponse?.response)
    return [
      {
        type: 'functionResponse',
        name: part.functionResponse.name,
        response: part.functionResponse.response,
      },
    ];
  return [];
}

/** What a person may see of contents: no thoughts, no signatures, nothing empty. */
export const toOutputParts = (contents: readonly Content[]): OutputPart[] =>
  contents.flatMap(({ parts }) => parts.flatMap(fromPart));
