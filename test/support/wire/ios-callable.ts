/** Where Swift's `AsyncBytes.lines` ends a line; it gives no empty lines. */
const LINE_ENDS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

export interface CallableReading {
  messages: Record<string, unknown>[];
  result?: unknown;
  error?: { code: string; message: string };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const failed = (reading: CallableReading, code: string, message: string): CallableReading => ({
  ...reading,
  error: { code, message },
});

/**
 * Reads the stream of a callable by the rules of Firebase's SDK for iOS: any status but 200 is an error without
 * its body; a line that does not begin with `data:` ends the stream as DATA_LOSS; an object must have `error`,
 * `result` or `message`.
 */
export function readAsIos(status: number, text: string): CallableReading {
  const reading: CallableReading = { messages: [] };
  if (status !== 200) return failed(reading, `HTTP_${status}`, '');
  for (const line of text.split(LINE_ENDS).filter((each) => each !== '')) {
    if (!line.startsWith('data:')) return failed(reading, 'DATA_LOSS', line);
    let json: unknown;
    try {
      json = JSON.parse(line.slice('data:'.length));
    } catch {
      return failed(reading, 'DATA_LOSS', line);
    }
    if (!isObject(json)) return failed(reading, 'DATA_LOSS', line);
    if (isObject(json['error']))
      return failed(reading, String(json['error']['status']), String(json['error']['message']));
    if ('result' in json) reading.result = json['result'];
    else if (isObject(json['message'])) reading.messages.push(json['message']);
    else return failed(reading, 'DATA_LOSS', line);
  }
  return reading;
}
