// The page and /graphql have one origin: Vite hands requests and sockets on to the server.
import { defineConfig } from 'vite';
import relay from 'vite-plugin-relay';

const target = process.env.WAXWING_URL ?? 'http://127.0.0.1:4000';
const proxy = { '/graphql': { target, ws: true } };

export default defineConfig({
  plugins: [relay],
  server: { host: '127.0.0.1', proxy },
  preview: { host: '127.0.0.1', proxy },
});
