import { request, type ClientRequest } from 'node:http';
import imported from 'react-native-sse';

/**
 * XMLHttpRequest over node:http, as far as react-native-sse uses it, with the behaviour of React Native's:
 * the text grows while it comes; after a broken connection the state is DONE under the status that had come,
 * the text is the error's, and `onerror` follows.
 */
class ReactNativeXmlHttpRequest {
  static readonly UNSENT = 0;
  static readonly OPENED = 1;
  static readonly HEADERS_RECEIVED = 2;
  static readonly LOADING = 3;
  static readonly DONE = 4;

  readyState = 0;
  status = 0;
  responseText = '';
  timeout = 0;
  withCredentials = false;
  onreadystatechange: (() => void) | null = null;
  onerror: (() => void) | null = null;
  private outgoing: ClientRequest | undefined;
  private isAborted = false;

  open(method: string, url: string): void {
    this.outgoing = request(url, { method, agent: false });
    this.setState(ReactNativeXmlHttpRequest.OPENED);
  }

  setRequestHeader(name: string, value: string): void {
    this.outgoing?.setHeader(name, value);
  }

  send(body?: string): void {
    const fail = (error: Error) => this.fail(error);
    this.outgoing?.on('error', fail).on('response', (response) => {
      this.status = response.statusCode ?? 0;
      this.setState(ReactNativeXmlHttpRequest.HEADERS_RECEIVED);
      response
        .setEncoding('utf8')
        .on('error', fail)
        .on('data', (text: string) => {
          this.responseText += text;
          this.setState(ReactNativeXmlHttpRequest.LOADING);
        })
        .on('end', () => this.setState(ReactNativeXmlHttpRequest.DONE));
    });
    this.outgoing?.end(body);
  }

  abort(): void {
    this.isAborted = true;
    this.outgoing?.destroy();
  }

  private fail(error: Error): void {
    if (this.isAborted || this.readyState === ReactNativeXmlHttpRequest.DONE) return;
    this.responseText = error.message;
    this.setState(ReactNativeXmlHttpRequest.DONE);
    this.onerror?.();
  }

  private setState(state: number): void {
    if (this.isAborted) return;
    this.readyState = state;
    this.onreadystatechange?.();
  }
}

Object.assign(globalThis, { XMLHttpRequest: ReactNativeXmlHttpRequest });

/** The class as an app of React Native imports it: Metro and Vite unwrap the module, Node does not. */
export const ReactNativeEventSource = 'default' in imported ? imported.default : imported;
