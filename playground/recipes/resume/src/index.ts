// What the recipes for Apollo Client, urql and Relay take from this one.
export { coalesce } from './coalesce.js';
export { openSocket } from './socket.js';
