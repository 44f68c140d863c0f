# allot_room(NAME SOURCE...): an object library from allot/NAME/SOURCE.cpp.
# allot_table(LIST TYPE ROOM): the table of built-ins for the plug-ins named in the variable LIST.
