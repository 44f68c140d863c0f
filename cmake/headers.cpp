// Nothing of its own: precompiled headers are made for an object (AllotRoom.cmake, AllotTest.cmake).
