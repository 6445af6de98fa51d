import { createServer, request } from 'node:http';
import { openServer } from '#infra/local/processes/open-server.ts';

/** A proxy before a server that answers the first `failures` requests with a page of its own, 502, then passes them on. */
export async function startBrokenProxy(url: string, failures: number) {
  let left = failures;
  const server = createServer((incoming, outgoing) => {
    if (left-- > 0) {
      outgoing.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
      return;
    }
    const { method = 'GET', headers } = incoming;
    const passed = request(`${url}${incoming.url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    incoming.pipe(passed);
  });
  return openServer(server);
}
