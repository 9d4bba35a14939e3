// A substitute for an object storage, so that the recipe runs without one: /sign returns the URL to PUT a file to, and the URL to read it.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export function startStorage(): Promise<{ url: string; stop(): void }> {
  const files = new Map<string, { type: string; bytes: Buffer }>();
  const server = createServer(async (request, response) => {
    const { port } = server.address() as AddressInfo;
    const path = request.url ?? '/';
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (path === '/sign') {
      const url = `http://127.0.0.1:${port}/${randomUUID()}.png`;
      response.end(JSON.stringify({ putUrl: `${url}?signature=once`, publicUrl: url }));
    } else if (request.method === 'PUT') {
      files.set(path.split('?')[0]!, { type: request.headers['content-type'] ?? '', bytes: Buffer.concat(chunks) });
      response.end();
    } else {
      const file = files.get(path);
      response.writeHead(file ? 200 : 404, { 'Content-Type': file?.type ?? 'text/plain' }).end(file?.bytes);
    }
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({ url: `http://127.0.0.1:${port}`, stop: () => server.close() });
    });
  });
}
