export interface ServerEvent {
  id: string | undefined;
  data: string;
}

/** Takes the text of an event stream in any pieces, and gives its events. Comments are passed over. */
export function createEventReader(onEvent: (event: ServerEvent) => void): (text: string) => void {
  let rest = '';
  let id: string | undefined;
  let data: string[] = [];

  function takeLine(line: string): void {
    if (line === '') {
      if (data.length > 0) onEvent({ id, data: data.join('\n') });
      id = undefined;
      data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    if (field === 'id') id = value;
  }

  return (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) takeLine(line.replace(/\r$/, ''));
  };
}
