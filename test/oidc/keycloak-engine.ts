/**
 * What a script mapper meets inside Keycloak, in a thread of its own: Java's classes as far as the example uses them, with calls
 * that wait for their answers. HTTP itself is done by the other side of the port.
 */
import { createContext, runInContext } from 'node:vm';
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';

type Asked = { method: string; url: string; headers: Record<string, string>; body: string | null; timeoutMs: number };
type Answer = { status: number; text: string } | { error: string };

const { script, environment, flag, port } = workerData;
const signal = new Int32Array(flag);

function exchange(asked: Asked): { status: number; text: string } {
  Atomics.store(signal, 0, 0);
  port.postMessage(asked);
  Atomics.wait(signal, 0, 0);
  const { message } = receiveMessageOnPort(port) as { message: Answer };
  if ('error' in message) throw new Error(message.error);
  return message;
}

/** java.net.HttpURLConnection: the request is sent when its status is asked for. */
class HttpURLConnection {
  #asked: Asked;
  #answer: { status: number; text: string } | undefined;
  constructor(url: string) {
    this.#asked = { method: 'GET', url, headers: {}, body: null, timeoutMs: 0 };
  }
  setConnectTimeout(_ms: number) {}
  setReadTimeout(ms: number) {
    this.#asked.timeoutMs = ms;
  }
  setInstanceFollowRedirects(_follow: boolean) {}
  setRequestMethod(method: string) {
    this.#asked.method = method;
  }
  setRequestProperty(name: string, value: string) {
    this.#asked.headers[name] = value;
  }
  setDoOutput(_output: boolean) {}
  getOutputStream() {
    return {
      write: (bytes: Buffer) => {
        this.#asked.body = bytes.toString();
      },
      close() {},
    };
  }
  getResponseCode() {
    this.#answer ??= exchange(this.#asked);
    return this.#answer.status;
  }
  getInputStream() {
    if (this.getResponseCode() >= 400) throw new Error('java.io.IOException');
    return this.#answer?.text;
  }
  getErrorStream() {
    return this.getResponseCode() >= 400 && this.#answer?.text !== '' ? this.#answer?.text : null;
  }
}

const classes: Record<string, unknown> = {
  'java.lang.System': {
    getenv: (name: string) => environment[name] ?? null,
    err: { println: (text: string) => parentPort?.postMessage({ logged: text }) },
  },
  'java.net.URL': class {
    readonly url: string;
    constructor(url: string) {
      this.url = url;
    }
    openConnection() {
      return new HttpURLConnection(this.url);
    }
  },
  'java.util.Scanner': class {
    #text: string;
    constructor(text: string) {
      this.#text = text;
    }
    useDelimiter() {
      return this;
    }
    hasNext = () => this.#text !== '';
    next = () => this.#text;
    close() {}
  },
  'java.lang.String': class {
    readonly #text: string;
    constructor(text: string) {
      this.#text = text;
    }
    getBytes = (_charset: 'UTF-8') => Buffer.from(this.#text);
  },
  'java.util.Collections': { singletonMap: (key: string, value: string) => new Map([[key, value]]) },
};

/** SingleUseObjectProvider. */
const objects = new Map<string, { notes: Map<string, string>; until: number }>();
const singleUseObjects = () => ({
  put: (key: string, seconds: number, notes: Map<string, string>) => {
    if (!Number.isInteger(seconds) || seconds <= 0) throw new Error('java.lang.IllegalArgumentException');
    objects.set(key, { notes, until: performance.now() + seconds * 1000 });
  },
  get: (key: string) => {
    const found = objects.get(key);
    return found !== undefined && found.until > performance.now() ? found.notes : null;
  },
});

parentPort?.on('message', ({ userId, serviceAccountOf }: { userId: string; serviceAccountOf: string | null }) => {
  const context = createContext({
    Java: {
      type: (name: string) => {
        if (classes[name] === undefined) throw new Error(`java.lang.ClassNotFoundException: ${name}`);
        return classes[name];
      },
    },
    keycloakSession: { singleUseObjects },
    user: { getId: () => userId, getServiceAccountClientLink: () => serviceAccountOf },
  });
  let value: unknown = null;
  try {
    value = runInContext(script, context);
  } catch (error) {
    parentPort?.postMessage({ logged: `Error during execution of ProtocolMapper script: ${error}` });
  }
  parentPort?.postMessage({ value });
});
