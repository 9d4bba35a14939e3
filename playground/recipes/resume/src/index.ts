// Used by the recipes for Apollo Client, urql and Relay.
export { coalesce } from './coalesce.js';
export { openSocket } from './socket.js';
