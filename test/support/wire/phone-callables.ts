/** Where Swift's `AsyncBytes.lines` ends a line; it gives no empty lines. */
const LINE_ENDS = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

interface CallableReading {
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

interface AndroidReading extends CallableReading {
  /** Whether the subscriber was told of an end: a result that is null is none. */
  isEnded: boolean;
}

function takeEvent(reading: AndroidReading, data: string): void {
  let json: unknown;
  try {
    json = JSON.parse(data);
  } catch {
    json = undefined;
  }
  if (!isObject(json)) {
    reading.error = { code: 'INTERNAL', message: `Invalid JSON: ${data}` };
    reading.isEnded = true;
  } else if ('message' in json) {
    if (isObject(json['message'])) reading.messages.push(json['message']);
  } else if (isObject(json['error'])) {
    const { status, message } = json['error'];
    reading.error = { code: String(status), message: String(message) };
    reading.isEnded = true;
  } else if (json['result'] !== undefined && json['result'] !== null) {
    reading.result = json['result'];
    reading.isEnded = true;
  }
}

/**
 * Reads the stream of a callable by the rules of Firebase's SDK for Android: events end at blank lines, lines
 * that are neither `data:` nor `result:` are passed over, an event without JSON (two blank lines in a row) is
 * an error, and nothing counts after an end. OkHttp gives up after 10 s without a byte (`gapsMs`).
 */
export function readAsAndroid(
  status: number,
  text: string,
  gapsMs: readonly number[] = [],
): AndroidReading {
  const reading: AndroidReading = { messages: [], isEnded: false };
  if (status !== 200) throw new Error(`thrown on a thread of OkHttp: HTTP ${status}`);
  if (gapsMs.some((gapMs) => gapMs >= 10_000)) {
    reading.error = { code: 'DEADLINE_EXCEEDED', message: 'timeout' };
    return reading;
  }
  const lines = text.split(/\r\n|\n|\r/);
  if (lines.at(-1) === '') lines.pop();
  let event = '';
  for (const line of lines) {
    if (reading.isEnded) break;
    const [, data] = /^(?:data|result):(.*)$/su.exec(line) ?? [];
    if (line.trim() === '') {
      takeEvent(reading, event);
      event = '';
    } else if (data !== undefined) event += `${data.trim()}\n`;
  }
  return reading;
}
